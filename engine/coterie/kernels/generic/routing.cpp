// kernels/generic/routing.cpp: what routing rows means.
#include "coterie/kernels/routing.hpp"

#include <algorithm>
#include <array>

namespace coterie::generic {
namespace {

bool passes(const RouteStep& step, Bin bin) {
    if (step.set != nullptr) return (step.set[bin / 8] >> (bin % 8) & 1) != (step.out_of_set ? 1 : 0);
    return static_cast<Bin>(bin - step.shift) <= step.span;
}

void route(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin, std::uint8_t* codes) {
    std::array<std::array<std::uint8_t, kRouteRows>, kMaxPutAside> aside;
    std::size_t n_aside = 0;
    std::fill_n(codes, kRouteRows, std::uint8_t{0});
    for (std::size_t s = 0; s < n_steps; ++s) {
        const RouteStep& step = steps[s];
        if (step.way == RouteStep::Way::start) {
            std::copy_n(codes, kRouteRows, aside[n_aside++].data());
            std::fill_n(codes, kRouteRows, step.other);
        }
        if (step.way == RouteStep::Way::join) --n_aside;
        const Bin* const column = columns + step.column + begin;
        for (std::size_t k = 0; k < kRouteRows; ++k)
            if (passes(step, column[k])) codes[k] = step.way == RouteStep::Way::join ? aside[n_aside][k] : step.code;
    }
}

void route_levels(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                  std::uint8_t* codes) {
    for (std::size_t k = 0; k < kRouteRows; ++k) {
        unsigned code = 0;
        for (std::size_t s = 0; s < n_steps; ++s)
            code = 2 * code + !passes(steps[s], columns[steps[s].column + begin + k]);
        codes[k] = static_cast<std::uint8_t>(code);
    }
}

}  // namespace

RoutingKernels routing_kernels() { return {.route = route, .route_levels = route_levels}; }

}  // namespace coterie::generic
