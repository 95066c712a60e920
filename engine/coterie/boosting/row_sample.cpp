#include "coterie/boosting/row_sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/fixed_point.hpp"
#include "coterie/base/logarithm.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 8'192;

// Uniform in [0, 1), 24 bits.
float unit_of(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1.0p-24f; }

// Exponential with mean 1.
float exponential_of(std::uint32_t bits) { return static_cast<float>(-logarithm(1.0 - double{unit_of(bits)})); }

// The derivatives of one chunk of the rows that take part, in the table itself or copied next to one another.
struct Chunk {
    std::size_t n;
    const RowIndex* rows;  // null: first_row, first_row + 1, ...
    RowIndex first_row;
    const float* gradient;
    const float* hessian;  // null: 1 for every row

    RowIndex row(std::size_t i) const { return rows == nullptr ? first_row + static_cast<RowIndex>(i) : rows[i]; }
    float hessian_at(std::size_t i) const { return hessian == nullptr ? 1.0f : hessian[i]; }
};

struct ChunkScratch {
    float gradient[kChunk];
    float hessian[kChunk];
};

std::size_t n_rows_of(const Derivatives& all) { return all.everybody() ? all.gradient.size() : all.rows.size(); }

Chunk chunk_of(const Derivatives& all, std::size_t begin, std::size_t end, ChunkScratch& scratch) {
    const bool flat = all.hessian.empty();
    if (all.everybody())
        return {.n = end - begin,
                .rows = nullptr,
                .first_row = static_cast<RowIndex>(begin),
                .gradient = all.gradient.data() + begin,
                .hessian = flat ? nullptr : all.hessian.data() + begin};
    for (std::size_t i = begin; i < end; ++i) {
        scratch.gradient[i - begin] = all.gradient[all.rows[i]];
        if (!flat) scratch.hessian[i - begin] = all.hessian[all.rows[i]];
    }
    return {.n = end - begin,
            .rows = all.rows.data() + begin,
            .first_row = 0,
            .gradient = scratch.gradient,
            .hessian = flat ? nullptr : scratch.hessian};
}

// Some rows tell how large the derivatives are: of all rows those whose number is a multiple of `step`, of chosen ones
// each, since multiples may not be among them. body(row) for those in [begin, end).
template <class Body>
void over_some_rows(const Derivatives& all, const Slice& slice, std::uint64_t step, std::size_t begin, std::size_t end,
                    Body body) {
    if (!all.everybody())
        for (std::size_t i = begin; i < end; ++i) body(all.rows[i]);
    else
        for (std::uint64_t i = begin + (step - (slice.first_row + begin) % step) % step; i < end; i += step)
            body(static_cast<RowIndex>(i));
}

// How much a hessian weighs beside a gradient: the square of a typical leaf value.
float hessian_weight(const Derivatives& all, const Slice& slice, std::uint64_t n_rows) {
    constexpr std::uint64_t kLook = 4096;
    const std::uint64_t step = std::max<std::uint64_t>(1, n_rows / kLook);
    const auto over_rows = [&](auto body) { over_some_rows(all, slice, step, 0, n_rows_of(all), body); };
    const auto gradient_of = [&](RowIndex row) { return std::fabs(all.gradient[row]); };
    const auto hessian_of = [&](RowIndex row) { return all.hessian.empty() ? 1.0f : std::fabs(all.hessian[row]); };
    std::uint64_t most[] = {0, 0};
    over_rows([&](RowIndex row) {
        most[0] = std::max<std::uint64_t>(most[0], std::bit_cast<std::uint32_t>(gradient_of(row)));
        most[1] = std::max<std::uint64_t>(most[1], std::bit_cast<std::uint32_t>(hessian_of(row)));
    });
    slice.max(most);
    const auto largest = [&](int k) { return std::bit_cast<float>(static_cast<std::uint32_t>(most[k])); };
    require(std::isfinite(largest(0)) && std::isfinite(largest(1)), "Derivatives of the loss must be finite numbers.");
    const FixedPoint gradients(static_cast<double>(largest(0)), n_rows);
    const FixedPoint hessians(static_cast<double>(largest(1)), n_rows);
    std::uint64_t sums[] = {0, 0};
    over_rows([&](RowIndex row) {
        sums[0] += gradients(static_cast<double>(gradient_of(row)));
        sums[1] += hessians(static_cast<double>(hessian_of(row)));
    });
    slice.sum(sums);
    const double hessian = hessians.value_of(sums[1]);
    if (!(hessian > 0)) return 0;
    const double typical = 0.3 * gradients.value_of(sums[0]) / hessian;
    return static_cast<float>(std::min(typical * typical, 1e30));
}

// How many rows there are of each size. A class of sizes is a 32nd part of the way from a power of two to the next: the
// exponent and the first five bits of the mantissa. Numbers that are infinite, or none, are in the last ones.
constexpr int kClassShift = 18;
constexpr std::size_t kClasses = std::size_t{1} << (31 - kClassShift);
constexpr std::size_t kFiniteClasses = 0x7f800000u >> kClassShift;

std::size_t class_of(float size) { return std::bit_cast<std::uint32_t>(size) >> kClassShift; }

double middle_of_class(std::size_t number) {
    const auto bits = static_cast<std::uint32_t>(number) << kClassShift | 1u << (kClassShift - 1);
    return static_cast<double>(std::bit_cast<float>(bits));
}

// The size above which a row is drawn for sure, so that `share` of the rows is drawn: sum of min(1, size / limit) =
// share * n. It decides how many rows are drawn, not what they count, so the middle of a class is near enough.
float limit_of(std::span<const std::uint64_t> counts, double share) {
    double mass = 0;  // of the rows that are not sure
    std::uint64_t n = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        n += counts[k];
        if (k < kFiniteClasses) mass += static_cast<double>(counts[k]) * middle_of_class(k);
    }
    double rest = share * static_cast<double>(n);  // rows to be drawn of those that are not sure
    double limit = std::numeric_limits<double>::infinity();
    for (std::size_t k = counts.size(); k-- > 0;) {
        if (counts[k] == 0) continue;
        if (k < kFiniteClasses) {
            limit = mass / rest;
            if (middle_of_class(k) <= limit) break;
            mass -= static_cast<double>(counts[k]) * middle_of_class(k);
        }
        rest -= static_cast<double>(counts[k]);
        if (!(rest > 0)) break;
    }
    constexpr float kLeast = std::numeric_limits<float>::min();
    return std::isfinite(limit) ? std::max(static_cast<float>(limit), kLeast) : std::numeric_limits<float>::max();
}

// Draws with chances in proportion to sizes, up to 1.
class Draw {
public:
    Draw(const Derivatives& all, const RowSampling& sampling, std::uint64_t seed, const Slice& slice, int n_threads)
        : share_(sampling.share), by_size_(sampling.method == SamplingMethod::minimal_variance && sampling.share < 1) {
        const auto salt = static_cast<std::uint32_t>(random_bits(seed, Purpose::row_draw, 0));
        salt_ = salt_of_slice(salt, slice.first_row);
        if (!by_size_) return;
        weight_ = hessian_weight(all, slice, slice.sum_of(n_rows_of(all)));
        limit_ = limit_of(count_sizes(all, slice, n_threads), share_);
    }

    std::uint32_t salt() const { return salt_; }

    /// The chance of a row is its size / limit, at most 1.
    float limit() const { return limit_; }

    /// Sizes of rows whose derivatives lie one after the other.
    void fill_sizes(const float* gradient, const float* hessian, std::size_t n, float* sizes) const {
        if (by_size_)
            kernels().sampling.row_sizes(gradient, hessian, n, weight_, sizes);
        else
            std::fill_n(sizes, n, static_cast<float>(share_));
    }

    std::size_t mark(const Chunk& chunk, const float* sizes, std::uint8_t* drawn) const {
        return kernels().sampling.draw(sizes, limit_, chunk.rows, chunk.first_row, chunk.n, salt_, drawn);
    }

private:
    // A part of the rows for each thread: which does not matter to counts.
    std::vector<std::uint64_t> count_sizes(const Derivatives& all, const Slice& slice, int n_threads) const {
        const std::size_t n = n_rows_of(all);
        const std::size_t n_parts = std::clamp<std::size_t>(n / (4 * kChunk), 1, static_cast<std::size_t>(n_threads));
        std::vector<std::vector<std::uint64_t>> counts(n_parts, std::vector<std::uint64_t>(kClasses, 0));
        parallel_for(n_parts, n_threads, [&](std::size_t part) {
            ChunkScratch scratch;
            float sizes[kChunk];
            const std::size_t last = n * (part + 1) / n_parts;
            for (std::size_t begin = n * part / n_parts; begin < last; begin += kChunk) {
                std::size_t m = 0;
                over_some_rows(all, slice, kStep, begin, std::min(last, begin + kChunk), [&](RowIndex row) {
                    scratch.gradient[m] = all.gradient[row];
                    scratch.hessian[m] = all.hessian.empty() ? 1.0f : all.hessian[row];
                    ++m;
                });
                fill_sizes(scratch.gradient, scratch.hessian, m, sizes);
                for (std::size_t i = 0; i < m; ++i) ++counts[part][class_of(sizes[i])];
            }
        });
        for (std::size_t part = 1; part < n_parts; ++part)
            for (std::size_t k = 0; k < kClasses; ++k) counts[0][k] += counts[part][k];
        slice.sum(counts[0]);
        return std::move(counts[0]);
    }

    static constexpr std::uint64_t kStep = 4;  // every fourth row tells enough

    double share_;
    bool by_size_;
    float weight_ = 0;
    float limit_ = 1;
    std::uint32_t salt_ = 0;
};

// A tiny share may draw nobody. One row of all workers' then stands for all: the one whose bits are the highest, which
// are different for each number.
void draw_one(const Derivatives& all, std::uint64_t seed, const Slice& slice, RowSample& sample) {
    const std::size_t n = n_rows_of(all);
    std::uint64_t highest = 0;
    RowIndex chosen = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const RowIndex row = all.everybody() ? static_cast<RowIndex>(i) : all.rows[i];
        const std::uint64_t bits = random_bits(seed, Purpose::row_draw, slice.first_row + row);
        if (i > 0 && bits <= highest) continue;
        highest = bits;
        chosen = row;
    }
    std::uint64_t highest_of_all[] = {highest};
    slice.max(highest_of_all);
    const auto times = static_cast<float>(slice.sum_of(n));
    const bool own = n > 0 && highest == highest_of_all[0];
    sample.rows.assign(own, chosen);
    sample.gradient.assign(own, own ? all.gradient[chosen] * times : 0.0f);
    sample.hessian.assign(own, own && !all.hessian.empty() ? all.hessian[chosen] * times : times);
    sample.sizes = see_sizes(sample.gradient, sample.hessian);
}

}  // namespace

void draw_rows(const Derivatives& derivatives, const RowSampling& sampling, std::uint64_t seed, const Slice& slice,
               int n_threads, RowSample& sample) {
    const std::size_t n = n_rows_of(derivatives);
    require(derivatives.hessian.empty() || derivatives.hessian.size() == derivatives.gradient.size(),
            "Gradients and hessians differ in length.");
    require(sampling.share > 0 && sampling.share <= 1,
            "The share of rows that a tree sees must be above 0, at most 1.");
    for (const RowIndex row : derivatives.rows)
        require(row < derivatives.gradient.size(), "A row that takes part is not in the table.");
    const bool bayesian = sampling.method == SamplingMethod::bayesian;
    const bool draws = sampling.method != SamplingMethod::none && !bayesian && sampling.share < 1;
    const bool with_hessian = !derivatives.hessian.empty() || draws || bayesian;
    const Draw draw(derivatives, sampling, seed, slice, n_threads);
    const std::size_t n_chunks = (n + kChunk - 1) / kChunk;
    std::vector<std::size_t> starts(n_chunks + 1, 0);
    resize_anew(sample.drawn, draws ? n : 0);
    parallel_ranges(n, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        std::size_t count = end - begin;
        if (draws) {
            ChunkScratch scratch;
            float sizes[kChunk];
            const Chunk chunk = chunk_of(derivatives, begin, end, scratch);
            draw.fill_sizes(chunk.gradient, chunk.hessian, chunk.n, sizes);
            count = draw.mark(chunk, sizes, sample.drawn.data() + begin);
        }
        starts[begin / kChunk + 1] = count;
    });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    if (draws && slice.sum_of(starts.back()) == 0) return draw_one(derivatives, seed, slice, sample);
    resize_anew(sample.rows, starts.back());
    resize_anew(sample.gradient, starts.back());
    resize_anew(sample.hessian, with_hessian ? starts.back() : 0);
    std::vector<SizesSeen> sizes_seen(n_chunks);
    parallel_ranges(n, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        ChunkScratch scratch;
        float sizes[kChunk];
        std::uint16_t drawn_rows[kChunk];
        const Chunk chunk = chunk_of(derivatives, begin, end, scratch);
        std::size_t count = chunk.n;
        if (draws) {
            draw.fill_sizes(chunk.gradient, chunk.hessian, chunk.n, sizes);
            const std::uint8_t* const drawn = sample.drawn.data() + begin;
            count = 0;
            for (std::size_t i = 0; i < chunk.n; ++i) {  // no branch: it would be a coin toss
                drawn_rows[count] = static_cast<std::uint16_t>(i);
                count += drawn[i];
            }
        } else {
            for (std::size_t i = 0; i < chunk.n; ++i) drawn_rows[i] = static_cast<std::uint16_t>(i);
        }
        const std::size_t to = starts[begin / kChunk];
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t i = drawn_rows[k];
            float times = 1.0f;
            if (bayesian)
                times = exponential_of(hash_of_row(chunk.row(i), draw.salt()));
            else if (draws)
                times = std::max(1.0f, draw.limit() / sizes[i]);
            sample.rows[to + k] = chunk.row(i);
            sample.gradient[to + k] = chunk.gradient[i] * times;
            if (with_hessian) sample.hessian[to + k] = chunk.hessian_at(i) * times;
        }
        sizes_seen[begin / kChunk] = see_sizes(
            std::span<const float>(sample.gradient).subspan(to, count),
            with_hessian ? std::span<const float>(sample.hessian).subspan(to, count) : std::span<const float>{});
    });
    sample.sizes = {};
    for (const SizesSeen& part : sizes_seen) sample.sizes.add(part);
}

}  // namespace coterie
