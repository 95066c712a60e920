#include "coterie/boosting/options.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "coterie/base/error.hpp"

namespace coterie {

std::uint32_t oblivious_depth(const GrowOptions& options) {
    if (options.max_depth > 0) return options.max_depth;
    return static_cast<std::uint32_t>(std::bit_width(options.max_leaf_nodes)) - 1;
}

void check_options(const GrowOptions& options, std::size_t n_features) {
    require(options.monotone.empty() || options.monotone.size() == n_features,
            "There are " + std::to_string(options.monotone.size()) + " monotone constraints for " +
                std::to_string(n_features) + " features.");
    for (const auto& set : options.interaction_sets)
        for (const FeatureIndex feature : set)
            require(feature < n_features, "An interaction set names feature " + std::to_string(feature) +
                                              "; there are " + std::to_string(n_features) + " features.");
    require(n_features > 0, "A tree needs at least one feature.");
    for (const double value : {options.l1, options.l2, options.max_step, options.free_step, options.min_child_weight,
                               options.min_gain, options.leaf_penalty, options.level_l2, options.level_smoothing,
                               options.split_noise, options.path_smoothing, options.linear_l2})
        require(value >= 0, "Growth options must not be negative.");
    require(!options.linear_leaves || (options.l1 == 0 && options.path_smoothing == 0),
            "Linear leaves do not go with l1 or path smoothing.");
    for (const double share : {options.max_features, options.max_features_per_level, options.max_features_per_tree})
        require(share > 0, "The share of features must be more than 0.");
    if (options.growth == Growth::oblivious) {
        require(options.max_depth > 0 || options.max_leaf_nodes > 0,
                "An oblivious tree needs a limit of depth or of leaves; both are 0, no limit.");
        require(oblivious_depth(options) <= 16, "An oblivious tree has at most 16 levels; it was requested to have " +
                                                    std::to_string(oblivious_depth(options)) + ".");
    }
    require(std::isfinite(options.learning_rate) && std::isfinite(options.value_unit),
            "The learning rate and the unit of values must be finite numbers.");
}

}  // namespace coterie
