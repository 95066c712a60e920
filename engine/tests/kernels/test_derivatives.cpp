// Losses, sums and roundings: the same bits in every table, and the formulas one knows.
#include <cmath>

#include "kernels/random_arrays.hpp"

namespace coterie::tests {
namespace {

const Test sums("sums and roundings of derivatives have the same bits in every table", [] {
    for (const std::size_t n : kSizes) {
        const Buffer<float> gradient = random_floats(1, n, -3, 3);
        const Buffer<float> hessian = random_floats(2, n, 0, 1);
        for (const float* h : {hessian.data(), static_cast<const float*>(nullptr)}) {
            const PairSums slow = generic_kernels().sum_pairs(gradient.data(), h, n);
            const PairSums fast = kernels().sum_pairs(gradient.data(), h, n);
            check_equal(fast.gradient_mass, slow.gradient_mass);
            check_equal(fast.hessian_mass, slow.hessian_mass);
            check_equal(fast.gradient_max, slow.gradient_max);
            check_equal(fast.hessian_max, slow.hessian_max);
            const Rounding rounding{.gradient_scale = 900.0f, .hessian_scale = 3000.0f, .salt = 17};
            Buffer<Pair> slow_pairs(n), fast_pairs(n);
            generic_kernels().round_pairs(gradient.data(), h, n, 5, rounding, slow_pairs.data());
            kernels().round_pairs(gradient.data(), h, n, 5, rounding, fast_pairs.data());
            check_same_bits(fast_pairs, slow_pairs);
        }
    }
});

const Test rounding_is_fair("rounded derivatives lie next to the true ones and are right on average", [] {
    constexpr std::size_t n = 20'000;
    const Buffer<float> gradient(n, -0.3125f);
    const Buffer<float> hessian(n, 0.6875f);
    Buffer<Pair> pairs(n);
    kernels().round_pairs(gradient.data(), hessian.data(), n, 0, {.gradient_scale = 4, .hessian_scale = 4, .salt = 3},
                          pairs.data());
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

const Test log_loss("the derivatives of the log loss are p - y and p (1 - p), for small and large scores", [] {
    for (const std::size_t n : kSizes) {
        const Buffer<float> score = random_floats(1, n, -30, 30);
        const Buffer<float> weight = random_floats(2, n, 0, 4);
        Buffer<float> y(n), slow_g(n), slow_h(n), fast_g(n), fast_h(n);
        for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<float>(bits_at(3, i) & 1);
        for (const float* w : {weight.data(), static_cast<const float*>(nullptr)}) {
            generic_kernels().log_loss(score.data(), y.data(), w, n, slow_g.data(), slow_h.data());
            kernels().log_loss(score.data(), y.data(), w, n, fast_g.data(), fast_h.data());
            check_same_bits(fast_g, slow_g);
            check_same_bits(fast_h, slow_h);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double p = 1 / (1 + std::exp(-static_cast<double>(score[i])));
            const double q = 1 / (1 + std::exp(static_cast<double>(score[i])));
            const double gradient = y[i] > 0.5f ? -q : p;
            check_near(slow_g[i], gradient, 1e-6 * std::abs(gradient));
            check_near(slow_h[i], p * q, 1e-6 * p * q);
        }
    }
});

const Test softmax("the multinomial derivatives are p_k - [y = k] and p_k (1 - p_k)", [] {
    constexpr std::size_t n_classes = 3;
    for (const std::size_t n : kSizes) {
        const Buffer<float> scores = random_floats(1, n_classes * n, -8, 8);
        const Buffer<float> weight = random_floats(2, n, 0, 4);
        Buffer<std::int32_t> y(n);
        for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<std::int32_t>(bits_at(3, i) % n_classes);
        Buffer<float> slow_sum(n), fast_sum(n), slow_g(n), slow_h(n), fast_g(n), fast_h(n);
        generic_kernels().log_sum_exp(scores.data(), n_classes, n, n, slow_sum.data());
        kernels().log_sum_exp(scores.data(), n_classes, n, n, fast_sum.data());
        check_same_bits(fast_sum, slow_sum);
        for (std::size_t k = 0; k < n_classes; ++k)
            for (const float* w : {weight.data(), static_cast<const float*>(nullptr)}) {
                const auto which = static_cast<std::int32_t>(k);
                const float* score = scores.data() + k * n;
                generic_kernels().softmax(score, slow_sum.data(), y.data(), which, w, n, slow_g.data(), slow_h.data());
                kernels().softmax(score, fast_sum.data(), y.data(), which, w, n, fast_g.data(), fast_h.data());
                check_same_bits(fast_g, slow_g);
                check_same_bits(fast_h, slow_h);
            }
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < n_classes; ++k) sum += std::exp(static_cast<double>(scores[k * n + i]));
            const double p = std::exp(static_cast<double>(scores[(n_classes - 1) * n + i])) / sum;
            check_near(slow_g[i], p - (y[i] == n_classes - 1), 2e-6);
            check_near(slow_h[i], p * (1 - p), 2e-6);
        }
    }
});

}  // namespace
}  // namespace coterie::tests
