// Sums, roundings and losses: the same bits in every table, and as near to the formulas as floats come.
#include <algorithm>
#include <bit>
#include <cmath>

#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

const float* const kNone = nullptr;

/// Random numbers with zeros of both signs, denormal numbers and powers of ten in between.
Buffer<float> wild_floats(std::uint64_t seed, std::size_t n, bool negative) {
    constexpr float kOdd[] = {0.0f, -0.0f, 1e-45f, 1e-38f, 1e-6f, 1.0f, 1e6f};
    Buffer<float> values(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t draw = bits_at(seed, i);
        values[i] = draw % 3 == 0 ? kOdd[draw / 3 % 7] : static_cast<float>(unit_at(seed, i) * 8);
        if (negative && draw >> 63) values[i] = -values[i];
    }
    return values;
}

const Test sizes("the largest size is found, and one that is no number is above all", [] {
    for (const std::size_t n : awkward_sizes()) {
        Buffer<float> values = wild_floats(1, n, true);
        const auto largest = [&](const Kernels& table) {
            return std::bit_cast<float>(table.rounding.sizes(values.data(), n).largest);
        };
        float most = 0;
        for (const float each : values) most = std::max(most, std::abs(each));
        const bool sign = std::ranges::any_of(values, [](float each) { return std::signbit(each); });
        for (const Kernels* table : kernel_tables()) {
            check_equal(largest(*table), most);
            check_equal(table->rounding.sizes(values.data(), n).signs, std::uint32_t{sign});
        }
        if (n == 0) continue;
        Buffer<float> positive = wild_floats(1, n, false);
        for (float& each : positive) each = std::abs(each);
        for (const Kernels* table : kernel_tables()) check_equal(table->rounding.sizes(positive.data(), n).signs, 0u);
        for (const std::size_t row : {std::size_t{0}, n / 2, n - 1}) {
            positive[row] = -positive[row];
            for (const Kernels* table : kernel_tables())
                check_equal(table->rounding.sizes(positive.data(), n).signs, 1u);
            positive[row] = -positive[row];
        }
        values[n / 2] = -std::numeric_limits<float>::quiet_NaN();
        for (const Kernels* table : kernel_tables()) check(std::isnan(largest(*table)), "it is noticed");
        values[n / 2] = -std::numeric_limits<float>::infinity();
        for (const Kernels* table : kernel_tables()) check(std::isinf(largest(*table)), "as is one without end");
    }
});

const Test sums("sums of scaled sizes are those of their whole parts", [] {
    for (const std::size_t n : awkward_sizes())
        for (const float scale : {0x1.0p-3f, 1.0f, 0x1.0p10f}) {
            const Buffer<float> values = random_floats(2, n, -1000, 1000);
            std::uint64_t sum = 0;
            for (const float each : values)
                sum += static_cast<std::uint64_t>(std::floor(std::abs(static_cast<double>(each)) * scale));
            for (const Kernels* table : kernel_tables())
                check_equal(table->rounding.sum_sizes(values.data(), n, scale), sum);
        }
    const Buffer<float> most(300'000, -1.0f);
    for (const Kernels* table : kernel_tables())
        check_equal(table->rounding.sum_sizes(most.data(), most.size(), static_cast<float>(kMaxScaled)),
                    most.size() * std::uint64_t{kMaxScaled});
});

const Test roundings("rounded pairs have the same bits in every table and do not depend on where a chunk begins", [] {
    const Rounding rounding{.gradient_scale = 900.0f, .hessian_scale = 3000.0f, .salt = 17};
    for (const std::size_t n : awkward_sizes()) {
        const Buffer<float> gradient = random_floats(1, n, -3, 3);
        const Buffer<float> hessian = random_floats(2, n, 0, 1);
        for (const float* h : {static_cast<const float*>(hessian.data()), kNone}) {
            Buffer<Pair> slow(n), fast(n), in_two(n);
            generic_kernels().rounding.round_pairs(gradient.data(), h, nullptr, 5, n, rounding, slow.data());
            kernels().rounding.round_pairs(gradient.data(), h, nullptr, 5, n, rounding, fast.data());
            check_same_bits(fast, slow);
            const std::size_t cut = n / 3;
            const float* const later = h == kNone ? kNone : h + cut;
            kernels().rounding.round_pairs(gradient.data(), h, nullptr, 5, cut, rounding, in_two.data());
            kernels().rounding.round_pairs(gradient.data() + cut, later, nullptr, static_cast<RowIndex>(5 + cut),
                                           n - cut, rounding, in_two.data() + cut);
            check_same_bits(in_two, slow);
        }
    }
});

const Test rounding_is_fair("rounded derivatives lie next to the true ones and are right on average", [] {
    constexpr std::size_t n = 20'000;
    const Buffer<float> gradient(n, -0.3125f);
    const Buffer<float> hessian(n, 0.6875f);
    Buffer<Pair> pairs(n);
    kernels().rounding.round_pairs(gradient.data(), hessian.data(), nullptr, 0, n,
                                   {.gradient_scale = 4, .hessian_scale = 4, .salt = 3}, pairs.data());
    double gradient_sum = 0, hessian_sum = 0;
    for (const Pair pair : pairs) {
        const auto rounded = static_cast<std::int16_t>(pair >> 16);
        check(rounded == -1 || rounded == -2, "-1.25 becomes -1 or -2");
        check((pair & 0xffff) == 2 || (pair & 0xffff) == 3, "2.75 becomes 2 or 3");
        gradient_sum += rounded;
        hessian_sum += pair & 0xffff;
    }
    check_near(gradient_sum / n, -1.25, 0.02);
    check_near(hessian_sum / n, 2.75, 0.02);
});

struct Rows {
    Buffer<float> score, y, weight;
};

Rows random_rows(std::size_t n, double reach) {
    Rows rows{random_floats(1, n, -reach, reach), Buffer<float>(n), random_floats(2, n, 0, 4)};
    for (std::size_t i = 0; i < n; ++i) rows.y[i] = static_cast<float>(bits_at(3, i) & 1);
    return rows;
}

const Test log_loss_twins("the log loss has the same bits in every table, with and without weights", [] {
    for (const std::size_t n : awkward_sizes())
        for (const double reach : {1.0, 30.0, 200.0}) {
            const Rows rows = random_rows(n, reach);
            Buffer<float> slow_g(n), slow_h(n), fast_g(n), fast_h(n);
            for (const float* w : {static_cast<const float*>(rows.weight.data()), kNone}) {
                generic_kernels().loss.log_loss(rows.score.data(), rows.y.data(), w, n, slow_g.data(), slow_h.data());
                kernels().loss.log_loss(rows.score.data(), rows.y.data(), w, n, fast_g.data(), fast_h.data());
                check_same_bits(fast_g, slow_g);
                check_same_bits(fast_h, slow_h);
            }
        }
});

const Test log_loss_exact("the derivatives of the log loss are p - y and p (1 - p) to a few units in the last place",
                          [] {
                              constexpr std::size_t n = 20'000;
                              const Rows rows = random_rows(n, 80);
                              Buffer<float> gradient(n), hessian(n);
                              kernels().loss.log_loss(rows.score.data(), rows.y.data(), nullptr, n, gradient.data(),
                                                      hessian.data());
                              for (std::size_t i = 0; i < n; ++i) {
                                  const double p = 1 / (1 + std::exp(-static_cast<double>(rows.score[i])));
                                  const double q = 1 / (1 + std::exp(static_cast<double>(rows.score[i])));
                                  const double expected = rows.y[i] > 0.5f ? -q : p;
                                  check_near(gradient[i], expected, 3e-7 * std::abs(expected));
                                  check_near(hessian[i], p * q, 5e-7 * p * q);
                              }
                          });

const Test log_loss_edges("scores without end give derivatives that are finite", [] {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Buffer<float> score{0.0f, -0.0f, 1e30f, -1e30f, kInfinity, -kInfinity, 1e-45f, -1e-45f};
    for (const Kernels* table : kernel_tables())
        for (const float label : {0.0f, 1.0f}) {
            const Buffer<float> y(score.size(), label);
            Buffer<float> gradient(score.size()), hessian(score.size());
            table->loss.log_loss(score.data(), y.data(), nullptr, score.size(), gradient.data(), hessian.data());
            check_equal(gradient[0], 0.5f - label);
            check_equal(hessian[1], 0.25f);
            for (std::size_t i = 2; i < 6; ++i) {
                const bool right = (score[i] > 0) == (label == 1.0f);
                check_near(gradient[i], right ? 0.0 : 1.0 - 2.0 * static_cast<double>(label), 1e-30);
                check(hessian[i] >= 0 && hessian[i] < 1e-30f, "a sure prediction has next to no hessian");
            }
        }
});

const Test exponential("e to the x is right to two units in the last place over its whole range", [] {
    // One class and a log sum of 0: the softmax is e^x, and gradient of another class is p itself.
    constexpr std::size_t n = 50'000;
    const Buffer<float> score = random_floats(4, n, -86, 0);
    const Buffer<float> zero(n, 0.0f);
    const Buffer<std::int32_t> y(n, 1);
    Buffer<float> gradient(n), hessian(n);
    for (const Kernels* table : kernel_tables()) {
        table->loss.softmax(score.data(), zero.data(), y.data(), 0, nullptr, n, gradient.data(), hessian.data());
        for (std::size_t i = 0; i < n; ++i) {
            const double expected = std::exp(static_cast<double>(score[i]));
            check_near(gradient[i], expected, 2.5e-7 * expected);
        }
    }
});

const Test squared_error("the gradient of the squared error is the weighted residual", [] {
    for (const std::size_t n : awkward_sizes()) {
        const Rows rows = random_rows(n, 30);
        for (const Kernels* table : kernel_tables()) {
            Buffer<float> plain(n), weighted(n);
            table->loss.squared_error(rows.score.data(), rows.y.data(), nullptr, n, plain.data());
            table->loss.squared_error(rows.score.data(), rows.y.data(), rows.weight.data(), n, weighted.data());
            for (std::size_t i = 0; i < n; ++i) {
                check_equal(plain[i], rows.score[i] - rows.y[i]);
                check_equal(weighted[i], plain[i] * rows.weight[i]);
            }
        }
    }
});

void check_softmax(std::size_t n, std::size_t n_classes) {
    const Buffer<float> scores = random_floats(1, n_classes * n, -8, 8);
    const Buffer<float> weight = random_floats(2, n, 0, 4);
    Buffer<std::int32_t> y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<std::int32_t>(bits_at(3, i) % n_classes);
    Buffer<float> slow_sum(n), fast_sum(n), slow_g(n), slow_h(n), fast_g(n), fast_h(n);
    generic_kernels().loss.log_sum_exp(scores.data(), n_classes, n, n, slow_sum.data());
    kernels().loss.log_sum_exp(scores.data(), n_classes, n, n, fast_sum.data());
    check_same_bits(fast_sum, slow_sum);
    std::vector<double> sum(n);
    for (std::size_t i = 0; i < n_classes * n; ++i) sum[i % n] += std::exp(static_cast<double>(scores[i]));
    for (std::size_t i = 0; i < n; ++i) check_near(slow_sum[i], std::log(sum[i]), 2e-6);
    for (std::size_t k = 0; k < n_classes; ++k) {
        const auto which = static_cast<std::int32_t>(k);
        const float* score = scores.data() + k * n;
        for (const float* w : {static_cast<const float*>(weight.data()), kNone}) {
            generic_kernels().loss.softmax(score, slow_sum.data(), y.data(), which, w, n, slow_g.data(), slow_h.data());
            kernels().loss.softmax(score, fast_sum.data(), y.data(), which, w, n, fast_g.data(), fast_h.data());
            check_same_bits(fast_g, slow_g);
            check_same_bits(fast_h, slow_h);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double p = std::exp(static_cast<double>(score[i])) / sum[i];
            check_near(slow_g[i], p - (y[i] == which), 4e-6);
            check_near(slow_h[i], p * (1 - p), 4e-6);
        }
    }
}

const Test softmax("the multinomial derivatives are p_k - [y = k] and p_k (1 - p_k)", [] {
    for (const std::size_t n : awkward_sizes())
        for (const std::size_t n_classes : {2u, 3u, 7u}) check_softmax(n, n_classes);
});

void check_softmax_direction(std::size_t n, std::size_t n_classes, const float* weight) {
    const Buffer<float> scores = random_floats(1, n_classes * n, -8, 8);
    const Buffer<float> direction = random_floats(5, n_classes, -2, 2);
    Buffer<std::int32_t> y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<std::int32_t>(bits_at(3, i) % n_classes);
    const ClassScores by_class{.values = scores.data(), .n_classes = n_classes, .stride = n};
    Buffer<float> slow_sum(n), slow_g(n), slow_h(n);
    generic_kernels().loss.softmax_direction(by_class, y.data(), direction.data(), weight, n, slow_sum.data(),
                                             slow_g.data(), slow_h.data());
    for (const Kernels* table : kernel_tables()) {
        Buffer<float> sum(n), g(n), h(n), sum_alone(n);
        table->loss.softmax_direction(by_class, y.data(), direction.data(), weight, n, sum.data(), g.data(), h.data());
        table->loss.log_sum_exp(scores.data(), n_classes, n, n, sum_alone.data());
        check_same_bits(sum, slow_sum);
        check_same_bits(sum, sum_alone);
        check_same_bits(g, slow_g);
        check_same_bits(h, slow_h);
    }
    for (std::size_t i = 0; i < n; ++i) {
        double total = 0, first = 0, second = 0;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const double part = std::exp(static_cast<double>(scores[k * n + i]));
            total += part;
            first += part * direction[k];
            second += part * direction[k] * direction[k];
        }
        const double mean = first / total;
        const double times = weight == nullptr ? 1.0 : weight[i];
        check_near(slow_g[i], times * (mean - direction[y[i]]), 2e-5);
        check_near(slow_h[i], times * (second / total - mean * mean), 4e-5);
    }
}

const Test softmax_direction("derivatives along a direction are its mean less its own class, and its variance", [] {
    for (const std::size_t n : awkward_sizes()) {
        const Buffer<float> weight = random_floats(2, n, 0, 4);
        for (const std::size_t n_classes : {2u, 3u, 7u})
            for (const float* w : {static_cast<const float*>(weight.data()), kNone})
                check_softmax_direction(n, n_classes, w);
    }
});

const Test sure_rows("a row whose class is all but certain has a small gradient, not a rounding error", [] {
    const Buffer<float> scores{0.0f, -20.0f, -25.0f};
    const Buffer<float> direction{1.5f, -0.5f, -1.0f};
    const Buffer<std::int32_t> y{0};
    for (const Kernels* table : kernel_tables()) {
        float log_sum = 0, g = 0, h = 0;
        table->loss.softmax_direction({.values = scores.data(), .n_classes = 3, .stride = 1}, y.data(),
                                      direction.data(), nullptr, 1, &log_sum, &g, &h);
        const double expected = -2 * std::exp(-20.0) - 2.5 * std::exp(-25.0);
        check_near(g, expected, 1e-6 * -expected);
        check_near(h, 4 * std::exp(-20.0) + 6.25 * std::exp(-25.0), 1e-14);
    }
});

const Test far_scores("scores that are far apart or very large do not overflow the sum of exponentials", [] {
    const Buffer<float> scores{1000.0f, -1000.0f, 3e38f,  0.0f,
                               1000.0f, 1000.0f,  -3e38f, 0.0f};  // two classes, four rows
    for (const Kernels* table : kernel_tables()) {
        Buffer<float> out(4);
        table->loss.log_sum_exp(scores.data(), 2, 4, 4, out.data());
        check_near(out[0], 1000 + std::log(2.0), 1e-4);
        check_near(out[1], 1000, 1e-4);
        check_equal(out[2], 3e38f);
        check_near(out[3], std::log(2.0), 1e-6);
    }
});

}  // namespace
}  // namespace coterie::tests
