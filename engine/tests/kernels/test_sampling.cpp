// Kernels of sampling and routing: the table in use gives the bits of the definition, and the definition is right.
#include <cmath>
#include <numeric>

#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

const Test sizes("sizes of rows are the same bits in every table", [] {
    for (const std::size_t n : awkward_sizes()) {
        const Buffer<float> gradient = random_floats(1, n, -3, 3);
        const Buffer<float> hessian = random_floats(2, n, 0, 1);
        for (const float* const h : {static_cast<const float*>(nullptr), hessian.data()}) {
            std::array<Buffer<float>, 2> found{Buffer<float>(n), Buffer<float>(n)};
            for (std::size_t k = 0; k < 2; ++k)
                kernel_tables()[k]->sampling.row_sizes(gradient.data(), h, n, 0.25f, found[k].data());
            check_same_bits(found[1], found[0]);
            for (std::size_t i = 0; i < n; ++i) {
                const double weight = h == nullptr ? 1.0 : static_cast<double>(h[i]);
                check_near(found[0][i], std::hypot(static_cast<double>(gradient[i]), 0.5 * weight), 1e-5);
            }
        }
    }
});

const Test draws("rows are drawn alike in every table, in the order of the table or by number", [] {
    for (const std::size_t n : awkward_sizes()) {
        const Buffer<float> chances = random_floats(4, n, 0, 1.2);
        Buffer<RowIndex> rows(n);
        std::iota(rows.begin(), rows.end(), 1000u);
        std::array<Buffer<std::uint8_t>, 4> drawn;
        std::array<std::size_t, 4> counts{};
        for (std::size_t k = 0; k < 4; ++k) {
            drawn[k].resize(n);
            const RowIndex* const given = k < 2 ? nullptr : rows.data();
            counts[k] = kernel_tables()[k % 2]->sampling.draw(chances.data(), 1.0f, given,
                                                              given == nullptr ? 1000u : 7u, n, 99, drawn[k].data());
            check_same_bits(drawn[k], drawn[0]);
            check_equal(counts[k], static_cast<std::size_t>(std::accumulate(drawn[0].begin(), drawn[0].end(), 0)));
        }
        for (std::size_t i = 0; i < n; ++i)
            if (chances[i] >= 1) check_equal(int{drawn[0][i]}, 1);
    }
});

const Test routes("rows are routed to the code that a walk finds, by bins and by sets of levels", [] {
    // Node 0 splits into 1 and 2, node 1 into 3 and 4, node 2 into 5 and 6; node 1 by a set of levels.
    constexpr std::size_t kSecond = 256 + kRouteRows;  // where the second column begins
    const Buffer<Bin> columns = random_bins(5, 2 * kSecond);
    LevelBits set;
    for (std::size_t i = 0; i < sizeof(LevelBits); ++i) set.bits[i] = static_cast<std::uint8_t>(bits_at(7, i));
    using Way = RouteStep::Way;
    const RouteStep start{.column = 0, .shift = 1, .span = 199, .way = Way::start, .code = 5, .other = 6};
    const RouteStep by_set{.column = kSecond, .set = set.bits, .way = Way::start, .code = 4, .other = 3};
    const RouteStep join{.column = 0, .shift = 0, .span = 100, .way = Way::join};
    const RouteStep ways[][3] = {{by_set, start, join}, {start, by_set, join.inverted()}};
    for (const Kernels* table : kernel_tables())
        for (const auto& steps : ways)
            for (const std::size_t begin : {0u, 1u, 77u, 256u}) {
                Buffer<std::uint8_t> codes(kRouteRows);
                table->routing.route(columns.data(), steps, 3, begin, codes.data());
                for (std::size_t k = 0; k < kRouteRows; ++k) {
                    const Bin a = columns[begin + k];
                    const Bin b = columns[kSecond + begin + k];
                    const bool in_set = (set.bits[b / 8] >> (b % 8) & 1) != 0;
                    check_equal(int{codes[k]}, a <= 100 ? (in_set ? 4 : 3) : (a <= 200 ? 5 : 6));
                }
            }
});

const Test attached("who passes takes the code of a leaf, and an inverted rule lets the others pass", [] {
    const Buffer<Bin> columns = random_bins(9, kRouteRows);
    LevelBits set;
    for (std::size_t i = 0; i < sizeof(LevelBits); ++i) set.bits[i] = static_cast<std::uint8_t>(bits_at(10, i));
    using Way = RouteStep::Way;
    for (const Kernels* table : kernel_tables()) {
        Buffer<std::uint8_t> codes(kRouteRows);
        table->routing.route(columns.data(), nullptr, 0, 0, codes.data());
        for (const std::uint8_t code : codes) check_equal(int{code}, 0);
        for (const bool nominal : {false, true})
            for (const int shift : {0, 1, 77})
                for (const int span : {0, 1, 100, 254}) {
                    const RouteStep start{.shift = 0, .span = 127, .way = Way::start, .code = 1, .other = 2};
                    const RouteStep attach{.set = nominal ? set.bits : nullptr,
                                           .shift = static_cast<Bin>(shift),
                                           .span = static_cast<Bin>(span),
                                           .way = Way::attach,
                                           .code = 9};
                    for (const bool inverted : {false, true}) {
                        const RouteStep steps[] = {start, inverted ? attach.inverted() : attach};
                        table->routing.route(columns.data(), steps, 2, 0, codes.data());
                        for (std::size_t k = 0; k < kRouteRows; ++k) {
                            const int bin = columns[k];
                            const bool passes =
                                nominal ? (set.bits[bin / 8] >> (bin % 8) & 1) != 0 : (bin - shift + 256) % 256 <= span;
                            check_equal(int{codes[k]}, passes != inverted ? 9 : bin <= 127 ? 1 : 2);
                        }
                    }
                }
    }
});

const Test levels("rows of a symmetric tree get their results as bits, for any depth", [] {
    constexpr std::size_t kSecond = 256 + kRouteRows;
    const Buffer<Bin> columns = random_bins(6, 2 * kSecond);
    LevelBits set;
    for (std::size_t i = 0; i < sizeof(LevelBits); ++i) set.bits[i] = static_cast<std::uint8_t>(bits_at(8, i));
    std::vector<RouteStep> steps;
    for (std::size_t s = 0; s < 8; ++s)
        steps.push_back({.column = s % 2 * kSecond,
                         .set = s % 3 == 2 ? set.bits : nullptr,
                         .shift = static_cast<Bin>(s % 2),
                         .span = static_cast<Bin>(20 + 30 * s - s % 2)});
    for (const Kernels* table : kernel_tables())
        for (std::size_t n_steps = 0; n_steps <= steps.size(); ++n_steps)
            for (const std::size_t begin : {0u, 1u, 77u, 256u}) {
                Buffer<std::uint8_t> codes(kRouteRows);
                table->routing.route_symmetric(columns.data(), steps.data(), n_steps, begin, codes.data());
                for (std::size_t k = 0; k < kRouteRows; ++k) {
                    int expected = 0;
                    for (std::size_t s = 0; s < n_steps; ++s) {
                        const Bin bin = columns[steps[s].column + begin + k];
                        const bool known_left = bin != 0 && bin <= 20 + 30 * s;
                        const bool left = s % 3 == 2 ? (set.bits[bin / 8] >> (bin % 8) & 1) != 0
                                                     : known_left || (bin == 0 && steps[s].shift == 0);
                        expected = 2 * expected + (left ? 0 : 1);
                    }
                    check_equal(int{codes[k]}, expected);
                }
            }
});

}  // namespace
}  // namespace coterie::tests
