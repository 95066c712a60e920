#include "coterie/forest/row_numbers.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBlockRows = 512;

/// Equal values have equal bits: both zeros, and whatever stands for a missing value.
std::uint64_t bits_of(double value, bool is_nominal) {
    if (is_nominal ? !(value >= 0.0) : std::isnan(value)) return 0x7ff8000000000000ull;
    return std::bit_cast<std::uint64_t>(value + 0.0);
}

}  // namespace

void row_numbers(const TableView& table, std::span<double> numbers, int n_threads) {
    require(numbers.size() == table.n_rows, "There must be one number for each row.");
    parallel_ranges(table.n_rows, kBlockRows, n_threads, [&](std::size_t begin, std::size_t end) {
        std::array<double, kBlockRows> values;
        std::array<std::uint64_t, kBlockRows> hashes{};
        const std::size_t n = end - begin;
        for (std::size_t feature = 0; feature < table.columns.size(); ++feature) {
            table.columns[feature].read(begin, n, values.data());
            const bool is_nominal = table.n_levels[feature] > 0;
            for (std::size_t k = 0; k < n; ++k)
                hashes[k] = mix((hashes[k] + 0x9e3779b97f4a7c15ull) ^ bits_of(values[k], is_nominal));
        }
        for (std::size_t k = 0; k < n; ++k) numbers[begin + k] = static_cast<double>(hashes[k] >> 11) * 0x1.0p-53;
    });
}

}  // namespace coterie
