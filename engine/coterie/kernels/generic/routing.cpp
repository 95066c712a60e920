// kernels/generic/routing.cpp: what routing rows means. Loops over 128 rows without branches, on arrays that nothing
// else can alias, so that compilers turn them into vectors.
#include "coterie/kernels/routing.hpp"

#include <array>
#include <cstring>

namespace coterie::generic {
namespace {

using Bytes = std::array<std::uint8_t, kRouteRows>;

// All bits of a byte, or none.
std::uint8_t mask_of(bool passed) { return static_cast<std::uint8_t>(-static_cast<int>(passed)); }
std::uint8_t select(std::uint8_t mask, std::uint8_t passed, std::uint8_t other) {
    return static_cast<std::uint8_t>((passed & mask) | (other & static_cast<std::uint8_t>(~mask)));
}

// For each row whether it passes, as a mask.
void find_passed(const RouteStep& step, const Bin* column, Bytes& passed) {
    if (step.set == nullptr) {
        Bytes bins;
        std::memcpy(bins.data(), column, kRouteRows);
        const Bin shift = step.shift;
        const Bin span = step.span;
        for (std::size_t k = 0; k < kRouteRows; ++k) passed[k] = mask_of(static_cast<Bin>(bins[k] - shift) <= span);
        return;
    }
    const auto out = static_cast<std::uint8_t>(step.out_of_set ? 1 : 0);
    for (std::size_t k = 0; k < kRouteRows; ++k) {
        const Bin bin = column[k];
        passed[k] = mask_of((step.set[bin / 8] >> (bin % 8) & 1) != out);
    }
}

void route(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin, std::uint8_t* codes) {
    std::array<Bytes, kMaxPutAside> aside;
    std::size_t n_aside = 0;
    Bytes at_hand{};
    Bytes passed;
    for (std::size_t s = 0; s < n_steps; ++s) {
        const RouteStep& step = steps[s];
        find_passed(step, columns + step.column + begin, passed);
        const std::uint8_t code = step.code;
        const std::uint8_t other = step.other;
        if (step.way == RouteStep::Way::attach) {
            for (std::size_t k = 0; k < kRouteRows; ++k) at_hand[k] = select(passed[k], code, at_hand[k]);
        } else if (step.way == RouteStep::Way::start) {
            aside[n_aside++] = at_hand;
            for (std::size_t k = 0; k < kRouteRows; ++k) at_hand[k] = select(passed[k], code, other);
        } else {
            const Bytes& put_aside = aside[--n_aside];
            for (std::size_t k = 0; k < kRouteRows; ++k) at_hand[k] = select(passed[k], put_aside[k], at_hand[k]);
        }
    }
    std::memcpy(codes, at_hand.data(), kRouteRows);
}

// Twice the code, and one more where a row does not pass: a mask is minus one where it does.
void route_symmetric(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                     std::uint8_t* codes) {
    Bytes sums{};
    Bytes passed;
    for (std::size_t s = 0; s < n_steps; ++s) {
        find_passed(steps[s], columns + steps[s].column + begin, passed);
        for (std::size_t k = 0; k < kRouteRows; ++k)
            sums[k] = static_cast<std::uint8_t>(sums[k] + sums[k] + passed[k] + 1);
    }
    std::memcpy(codes, sums.data(), kRouteRows);
}

}  // namespace

RoutingKernels routing_kernels() { return {.route = route, .route_symmetric = route_symmetric}; }

}  // namespace coterie::generic
