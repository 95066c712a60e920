// exact/criterion_node.hpp: a node summed up: how much it weighs, how mixed it is, what it predicts.
#pragma once

#include <span>
#include <vector>

#include "coterie/split/criterion_rows.hpp"

namespace coterie::criterion {

struct NodeSummary {
    double weight = 0.0;
    double impurity = 0.0;      // the mean over the outputs; exactly 0 if all rows have the same target
    std::vector<double> value;  // class shares of every output one after the other, means, or medians
};

NodeSummary summarise(const Targets& targets, Criterion criterion, std::span<const RowIndex> rows);

}  // namespace coterie::criterion
