#include "coterie/loss/derivatives.hpp"

#include <algorithm>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 8192;

template <class T>
const T* at(std::span<const T> values, std::size_t i) {
    return values.empty() ? nullptr : values.data() + i;
}

// The only loop over rows, for every loss: body(begin, n) on fixed chunks.
template <class F>
void over_rows(std::size_t n_rows, int n_threads, F body) {
    parallel_ranges(n_rows, kChunk, n_rows < 50'000 ? 1 : n_threads,
                    [&](std::size_t begin, std::size_t end) { body(begin, end - begin); });
}

void check_lengths(std::size_t n, std::initializer_list<std::size_t> all, std::size_t weight) {
    for (const std::size_t each : all) require(each == n, "Arrays of one value per row differ in length.");
    require(weight == 0 || weight == n, "The weights differ in length from the rows.");
}

}  // namespace

void log_loss_derivatives(const LossRows& rows, std::span<float> gradient, std::span<float> hessian) {
    check_lengths(rows.score.size(), {rows.y.size(), gradient.size(), hessian.size()}, rows.weight.size());
    over_rows(rows.score.size(), rows.n_threads, [&](std::size_t i, std::size_t n) {
        kernels().loss.log_loss(at(rows.score, i), at(rows.y, i), at(rows.weight, i), n, &gradient[i], &hessian[i]);
    });
}

void squared_error_derivatives(const LossRows& rows, std::span<float> gradient) {
    check_lengths(rows.score.size(), {rows.y.size(), gradient.size()}, rows.weight.size());
    over_rows(rows.score.size(), rows.n_threads, [&](std::size_t i, std::size_t n) {
        kernels().loss.squared_error(at(rows.score, i), at(rows.y, i), at(rows.weight, i), n, &gradient[i]);
    });
}

void log_sum_exp(std::span<const float> scores, std::size_t n_classes, std::span<float> out, int n_threads) {
    require(n_classes > 0 && scores.size() == out.size() * n_classes, "There must be one score per class and row.");
    over_rows(out.size(), n_threads, [&](std::size_t i, std::size_t n) {
        kernels().loss.log_sum_exp(scores.data() + i, n_classes, out.size(), n, &out[i]);
    });
}

void softmax_derivatives(const SoftmaxRows& rows, std::span<float> gradient, std::span<float> hessian) {
    check_lengths(rows.score.size(), {rows.log_sum.size(), rows.y.size(), gradient.size(), hessian.size()},
                  rows.weight.size());
    over_rows(rows.score.size(), rows.n_threads, [&](std::size_t i, std::size_t n) {
        kernels().loss.softmax(at(rows.score, i), at(rows.log_sum, i), at(rows.y, i), rows.which, at(rows.weight, i), n,
                               &gradient[i], &hessian[i]);
    });
}

void softmax_direction_derivatives(const DirectionRows& rows, const DirectionDerivatives& out) {
    const std::size_t n_rows = rows.y.size();
    const std::size_t n_classes = rows.direction.size();
    check_lengths(n_rows, {out.log_sum.size(), out.gradient.size(), out.hessian.size()}, rows.weight.size());
    require(n_classes > 0 && rows.scores.size() == n_classes * n_rows, "There must be one score per class and row.");
    const auto known = [&](std::int32_t code) { return code >= 0 && static_cast<std::size_t>(code) < n_classes; };
    require(std::ranges::all_of(rows.y, known), "Codes of classes must be numbers of classes.");
    over_rows(n_rows, rows.n_threads, [&](std::size_t i, std::size_t n) {
        kernels().loss.softmax_direction({.values = rows.scores.data() + i, .n_classes = n_classes, .stride = n_rows},
                                         at(rows.y, i), rows.direction.data(), at(rows.weight, i), n, &out.log_sum[i],
                                         &out.gradient[i], &out.hessian[i]);
    });
}

}  // namespace coterie
