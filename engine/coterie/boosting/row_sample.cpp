#include "coterie/boosting/row_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/logarithm.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 8'192;
constexpr int kThresholdSteps = 4;

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

struct ChunkRoom {
    float gradient[kChunk];
    float hessian[kChunk];
};

std::size_t n_rows_of(const Derivatives& all) { return all.rows.empty() ? all.gradient.size() : all.rows.size(); }

Chunk chunk_of(const Derivatives& all, std::size_t begin, std::size_t end, ChunkRoom& room) {
    const bool flat = all.hessian.empty();
    if (all.rows.empty())
        return {.n = end - begin,
                .rows = nullptr,
                .first_row = static_cast<RowIndex>(begin),
                .gradient = all.gradient.data() + begin,
                .hessian = flat ? nullptr : all.hessian.data() + begin};
    for (std::size_t i = begin; i < end; ++i) {
        room.gradient[i - begin] = all.gradient[all.rows[i]];
        if (!flat) room.hessian[i - begin] = all.hessian[all.rows[i]];
    }
    return {.n = end - begin,
            .rows = all.rows.data() + begin,
            .first_row = 0,
            .gradient = room.gradient,
            .hessian = flat ? nullptr : room.hessian};
}

// How much a hessian weighs beside a gradient: the square of a typical answer.
float hessian_weight(const Derivatives& all) {
    constexpr std::size_t kLook = 4096;
    const std::size_t n = n_rows_of(all);
    const std::size_t step = std::max<std::size_t>(1, n / kLook);
    double gradient = 0;
    double hessian = 0;
    for (std::size_t i = 0; i < n; i += step) {
        const RowIndex row = all.rows.empty() ? static_cast<RowIndex>(i) : all.rows[i];
        gradient += std::fabs(static_cast<double>(all.gradient[row]));
        hessian += all.hessian.empty() ? 1.0 : static_cast<double>(all.hessian[row]);
    }
    if (!(hessian > 0)) return 0;
    const double typical = 0.3 * gradient / hessian;
    return static_cast<float>(std::min(typical * typical, 1e30));
}

// The size above which a row is drawn for sure, so that `share` of the chunk is drawn: sum of min(1, size / limit) =
// share * n. Each step takes the rows that are sure by now out of the sum; the limit falls to its place.
float limit_of(std::span<const float> sizes, double share) {
    const double wanted = share * static_cast<double>(sizes.size());
    float limit = std::numeric_limits<float>::infinity();
    for (int step = 0; step < kThresholdSteps; ++step) {
        const MassBelow below = kernels().sampling.mass_below(sizes.data(), sizes.size(), limit);
        const double rest = wanted - static_cast<double>(sizes.size() - below.n);
        if (!(rest > 0)) break;
        limit = static_cast<float>(below.mass / rest);
    }
    return limit > 0 ? limit : std::numeric_limits<float>::min();
}

// Draws with chances in proportion to sizes, up to 1.
class Draw {
public:
    Draw(const Derivatives& all, const RowSampling& sampling, std::uint64_t seed)
        : share_(sampling.share),
          by_size_(sampling.method == SamplingMethod::minimal_variance),
          weight_(by_size_ ? hessian_weight(all) : 0.0f),
          salt_(static_cast<std::uint32_t>(random_bits(seed, Purpose::row_draw, 0))) {}

    std::uint32_t salt() const { return salt_; }

    /// Sizes of the chunk's rows.
    void size_up(const Chunk& chunk, float* sizes) const {
        if (by_size_)
            kernels().sampling.row_sizes(chunk.gradient, chunk.hessian, chunk.n, weight_, sizes);
        else
            std::fill_n(sizes, chunk.n, static_cast<float>(share_));
    }

    /// The chance of a row is its size / limit, at most 1.
    float limit(const Chunk& chunk, const float* sizes) const {
        if (!by_size_) return 1.0f;
        // Every fourth row tells enough: the limit decides how many rows are drawn, not what they count.
        float some[kChunk / 4 + 1];
        std::size_t n = 0;
        for (std::size_t i = 0; i < chunk.n; i += 4) some[n++] = sizes[i];
        return limit_of({some, n}, share_);
    }

    std::size_t mark(const Chunk& chunk, const float* sizes, float limit, std::uint8_t* drawn) const {
        return kernels().sampling.draw(sizes, limit, chunk.rows, chunk.first_row, chunk.n, salt_, drawn);
    }

private:
    double share_;
    bool by_size_;
    float weight_;
    std::uint32_t salt_;
};

// A tiny share may draw nobody. One row then stands for all.
void draw_one(const Derivatives& all, std::uint64_t seed, RowSample& sample) {
    const std::size_t n = n_rows_of(all);
    const auto i = random_below(seed, Purpose::row_draw, 1, static_cast<std::uint32_t>(n));
    const RowIndex row = all.rows.empty() ? i : all.rows[i];
    const auto times = static_cast<float>(n);
    sample.rows.assign(1, row);
    sample.gradient.assign(1, all.gradient[row] * times);
    sample.hessian.assign(1, (all.hessian.empty() ? 1.0f : all.hessian[row]) * times);
}

}  // namespace

void draw_rows(const Derivatives& derivatives, const RowSampling& sampling, std::uint64_t seed, int n_threads,
               RowSample& sample) {
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
    const Draw draw(derivatives, sampling, seed);
    const std::size_t n_chunks = (n + kChunk - 1) / kChunk;
    std::vector<std::size_t> starts(n_chunks + 1, 0);
    std::vector<float> limits(n_chunks, 1.0f);
    resize_anew(sample.drawn, draws ? n : 0);
    parallel_ranges(n, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        std::size_t count = end - begin;
        if (draws) {
            ChunkRoom room;
            float sizes[kChunk];
            const Chunk chunk = chunk_of(derivatives, begin, end, room);
            draw.size_up(chunk, sizes);
            limits[begin / kChunk] = draw.limit(chunk, sizes);
            count = draw.mark(chunk, sizes, limits[begin / kChunk], sample.drawn.data() + begin);
        }
        starts[begin / kChunk + 1] = count;
    });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    if (starts.back() == 0 && n > 0) return draw_one(derivatives, seed, sample);
    resize_anew(sample.rows, starts.back());
    resize_anew(sample.gradient, starts.back());
    resize_anew(sample.hessian, with_hessian ? starts.back() : 0);
    parallel_ranges(n, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        ChunkRoom room;
        float sizes[kChunk];
        std::uint16_t places[kChunk];
        const Chunk chunk = chunk_of(derivatives, begin, end, room);
        const float limit = limits[begin / kChunk];
        std::size_t count = chunk.n;
        if (draws) {
            draw.size_up(chunk, sizes);
            const std::uint8_t* const drawn = sample.drawn.data() + begin;
            count = 0;
            for (std::size_t i = 0; i < chunk.n; ++i) {  // no branch: it would be a coin toss
                places[count] = static_cast<std::uint16_t>(i);
                count += drawn[i];
            }
        } else {
            for (std::size_t i = 0; i < chunk.n; ++i) places[i] = static_cast<std::uint16_t>(i);
        }
        const std::size_t to = starts[begin / kChunk];
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t i = places[k];
            float times = 1.0f;
            if (bayesian)
                times = exponential_of(hash_of_row(chunk.row(i), draw.salt()));
            else if (draws)
                times = std::max(1.0f, limit / sizes[i]);
            sample.rows[to + k] = chunk.row(i);
            sample.gradient[to + k] = chunk.gradient[i] * times;
            if (with_hessian) sample.hessian[to + k] = chunk.hessian_at(i) * times;
        }
    });
}

}  // namespace coterie
