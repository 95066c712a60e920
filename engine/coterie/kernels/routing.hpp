// kernels/routing.hpp: from the bins of rows to the leaves of a tree, without branches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/base/types.hpp"

namespace coterie {

/// Of a nominal split: bit b says that bin b goes left.
struct alignas(32) LevelBits {
    std::uint8_t bits[32] = {};
};

/// One split of a tree on bins, and what becomes of the codes at hand, one for each row, which are those of the step
/// before. Bins that the rule lets pass take another code:
///   start   the codes at hand are put aside; rows that pass begin with `code`, others with `other`
///   attach  `code`
///   join    that which was put aside last, and is needed no more
struct RouteStep {
    enum class Way : std::uint8_t { start, attach, join };

    std::size_t column = 0;             // where the bins of its feature begin
    const std::uint8_t* set = nullptr;  // of nominal splits: LevelBits
    bool out_of_set = false;            // who is not in the set passes
    Bin shift = 0;                      // of numeric splits: bins pass when (bin - shift) <= span in uint8 arithmetic
    Bin span = 0;
    Way way = Way::attach;
    std::uint8_t code = 0;
    std::uint8_t other = 0;

    /// Who passed does not, and the other way round. Not all bins may pass.
    constexpr RouteStep inverted() const {
        RouteStep inverse = *this;
        inverse.out_of_set = !out_of_set;
        inverse.shift = static_cast<Bin>(shift + span + 1);
        inverse.span = static_cast<Bin>(254 - span);
        return inverse;
    }
};
inline constexpr std::size_t kMaxPutAside = 10;  // of a tree that a byte can tell the leaves of (tree/route_plan.hpp)
inline constexpr std::size_t kRouteRows = 128;

struct RoutingKernels {
    // Picks codes for rows begin + [0, kRouteRows), step after step; without steps they are 0. Columns can be read
    // kRouteRows bytes from any row on.
    void (*route)(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                  std::uint8_t* codes);

    // The same for a symmetric tree, with one step per depth: the results of a row are the bits of its code, the
    // root's the highest, 1 where it does not pass. The ways of the steps are not looked at.
    void (*route_symmetric)(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                            std::uint8_t* codes);
};

namespace generic {
RoutingKernels routing_kernels();
}
namespace avx2 {
RoutingKernels routing_kernels();
}
namespace avx512 {
RoutingKernels routing_kernels();
}
namespace neon {
RoutingKernels routing_kernels();
}

}  // namespace coterie
