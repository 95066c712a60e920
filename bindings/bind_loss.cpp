// bindings/bind_loss.cpp: derivatives of the built-in losses.
#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/loss/derivatives.hpp"

namespace coterie::python {

void bind_loss(nb::module_& m) {
    m.def(
        "log_loss_derivatives",
        [](const Column<float>& score, const Column<float>& y, const Column<float>& weight, Output<float> gradient,
           Output<float> hessian, int n_threads) {
            const nb::gil_scoped_release unlock;
            log_loss_derivatives({.score = look(score), .y = look(y), .weight = look(weight), .n_threads = n_threads},
                                 look(gradient), look(hessian));
        },
        nb::arg("score"), nb::arg("y"), nb::arg("weight"), nb::arg("gradient").noconvert(),
        nb::arg("hessian").noconvert(), nb::arg("n_threads"),
        "Binary log loss: p - y and p (1 - p), times the weight if it is not empty.");
    m.def(
        "squared_error_derivatives",
        [](const Column<float>& score, const Column<float>& y, const Column<float>& weight, Output<float> gradient,
           int n_threads) {
            const nb::gil_scoped_release unlock;
            squared_error_derivatives(
                {.score = look(score), .y = look(y), .weight = look(weight), .n_threads = n_threads}, look(gradient));
        },
        nb::arg("score"), nb::arg("y"), nb::arg("weight"), nb::arg("gradient").noconvert(), nb::arg("n_threads"),
        "score - y, times the weight if it is not empty.");
    m.def(
        "log_sum_exp",
        [](const Column<float>& scores, std::size_t n_classes, Output<float> out, int n_threads) {
            const nb::gil_scoped_release unlock;
            log_sum_exp(look(scores), n_classes, look(out), n_threads);
        },
        nb::arg("scores"), nb::arg("n_classes"), nb::arg("out").noconvert(), nb::arg("n_threads"),
        "Log of the sum over classes of exp(score), per row; scores are class-major.");
    m.def(
        "softmax_derivatives",
        [](const Column<float>& score, const Column<float>& log_sum, const Column<std::int32_t>& y, std::int32_t which,
           const Column<float>& weight, Output<float> gradient, Output<float> hessian, int n_threads) {
            const nb::gil_scoped_release unlock;
            softmax_derivatives({.score = look(score),
                                 .log_sum = look(log_sum),
                                 .y = look(y),
                                 .weight = look(weight),
                                 .which = which,
                                 .n_threads = n_threads},
                                look(gradient), look(hessian));
        },
        nb::arg("score"), nb::arg("log_sum"), nb::arg("y"), nb::arg("which"), nb::arg("weight"),
        nb::arg("gradient").noconvert(), nb::arg("hessian").noconvert(), nb::arg("n_threads"),
        "Multinomial log loss for one class.");
    m.def(
        "softmax_direction_derivatives",
        [](const Column<float>& scores, const Column<float>& direction, const Column<std::int32_t>& y,
           const Column<float>& weight, Output<float> log_sum, Output<float> gradient, Output<float> hessian,
           int n_threads) {
            const nb::gil_scoped_release unlock;
            softmax_direction_derivatives(
                {.scores = look(scores),
                 .direction = look(direction),
                 .y = look(y),
                 .weight = look(weight),
                 .n_threads = n_threads},
                {.log_sum = look(log_sum), .gradient = look(gradient), .hessian = look(hessian)});
        },
        nb::arg("scores"), nb::arg("direction"), nb::arg("y"), nb::arg("weight"), nb::arg("log_sum").noconvert(),
        nb::arg("gradient").noconvert(), nb::arg("hessian").noconvert(), nb::arg("n_threads"),
        "Multinomial log loss along a direction over the classes, and the log of the sum of the exponentials of each "
        "row's scores; scores are class-major.");
}

}  // namespace coterie::python
