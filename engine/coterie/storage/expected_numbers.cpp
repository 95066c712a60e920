#include "coterie/storage/expected_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace coterie {
namespace {

constexpr std::size_t kFew = 64;  // splits or leaves that a rule is found from

double rounded_to_digits(double value, int digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return std::strtod(text, nullptr);
}

// The denominator of the simplest fraction that a number could be, as far as its last bits can tell.
double denominator_of(double value) {
    constexpr double kNear = 0x1.0p-50;
    constexpr double kMaxDenominator = 0x1.0p31;
    double rest = value;
    double above = 1.0;  // the last two convergents of the continued fraction
    double below = 0.0;
    double above_before = 0.0;
    double below_before = 1.0;
    for (int step = 0; step < 64; ++step) {
        const double whole = std::floor(rest);
        const double next_above = whole * above + above_before;
        const double next_below = whole * below + below_before;
        if (next_below > kMaxDenominator) break;
        above_before = std::exchange(above, next_above);
        below_before = std::exchange(below, next_below);
        if (std::fabs(above / below - value) <= kNear * value || rest == whole) return below;
        rest = 1.0 / (rest - whole);
    }
    return 1.0;
}

// Covers are whole numbers times one over a float (boosting/rounded_pairs), or the weights of rows.
double find_unit(const Tree& tree) {
    if (!covers_in_units(tree, 1.0).empty()) return 1.0;
    std::vector<double> covers;
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (!(tree.cover[node] > 0.0) || !std::isfinite(tree.cover[node])) return 0.0;
        covers.push_back(tree.cover[node]);
    }
    std::ranges::sort(covers);
    double unit = covers[0];
    for (std::size_t i = 1; i < std::min(kFew, covers.size()); ++i) unit /= denominator_of(covers[i] / unit);
    for (const double cover : covers) unit = cover / std::max(1.0, std::nearbyint(cover / unit));
    const auto scale = static_cast<float>(1.0 / unit);
    for (const float near : {scale, std::nextafter(scale, 0.0f), std::nextafter(scale, INFINITY)}) {
        const double candidate = 1.0 / static_cast<double>(near);
        if (std::isfinite(candidate) && candidate > 0.0 && !covers_in_units(tree, candidate).empty()) return candidate;
    }
    return !covers_in_units(tree, unit).empty() ? unit : 0.0;
}

std::vector<NodeIndex> first_splits(const Tree& tree) {
    std::vector<NodeIndex> splits;
    for (NodeIndex node = 0; node < tree.n_nodes() && splits.size() < kFew; ++node)
        if (!tree.is_leaf(node)) splits.push_back(node);
    return splits;
}

Sides sides_of(const std::vector<double>& numbers, const Tree& tree, NodeIndex split, std::size_t stride = 1) {
    return {numbers[tree.left[split] * stride], numbers[(tree.left[split] + 1) * stride]};
}

double middle_of(std::vector<double>& values) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct ExpectedAndFound {
    double expected;
    double found;
};

// How many bits the differences from what is expected take, in all.
template <class Expect>
std::size_t n_bits(const std::vector<NodeIndex>& splits, Expect expect) {
    std::size_t bits = 0;
    for (const NodeIndex split : splits) {
        const auto [expected, found] = expect(split);
        bits += static_cast<std::size_t>(std::bit_width(doubles_between(expected, found)));
    }
    return bits;
}

double find_l2(const Tree& tree, const std::vector<NodeIndex>& splits) {
    const std::size_t k = tree.n_outputs;
    const auto bits = [&](double l2) {
        return n_bits(splits, [&](NodeIndex split) {
            const Sides cover = sides_of(tree.cover, tree, split);
            const Sides value = sides_of(tree.value, tree, split, k);
            return ExpectedAndFound{expected_value(value, cover, tree.cover[split], l2), tree.value[split * k]};
        });
    };
    std::vector<double> found;
    for (const NodeIndex split : splits) {
        const Sides value = sides_of(tree.value, tree, split, k);
        const Sides cover = sides_of(tree.cover, tree, split);
        const double own = tree.value[split * k];
        found.push_back((value.left * cover.left + value.right * cover.right - own * tree.cover[split]) /
                        (own - value.left - value.right));
    }
    const double l2 = rounded_to_digits(middle_of(found), 8);
    return l2 > 0.0 && bits(l2) < bits(0.0) ? l2 : 0.0;
}

double find_gain_scale(const Tree& tree, const std::vector<NodeIndex>& splits, const TreeRule& rule) {
    const auto expected = [&](NodeIndex split, double scale) {
        TreeRule own = rule;
        own.gain_scale = scale;
        const std::size_t k = tree.n_outputs;
        return expected_gain(sides_of(tree.value, tree, split, k), sides_of(tree.cover, tree, split),
                             tree.value[split * k], tree.cover[split], own);
    };
    const auto bits = [&](double scale) {
        return n_bits(splits,
                      [&](NodeIndex split) { return ExpectedAndFound{expected(split, scale), tree.gain[split]}; });
    };
    std::vector<double> found;
    for (const NodeIndex split : splits) found.push_back(tree.gain[split] / expected(split, 1.0));
    const double raw = middle_of(found);
    const double nice = rounded_to_digits(raw, 8);
    const double best = bits(nice) <= bits(raw) ? nice : raw;
    return bits(best) < bits(1.0) ? best : 1.0;
}

}  // namespace

std::vector<std::uint64_t> covers_in_units(const Tree& tree, double unit) {
    std::vector<std::uint64_t> whole(tree.n_nodes());
    for (NodeIndex node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {
        const double cover = tree.cover[node];
        if (tree.is_leaf(node)) {
            const double n = std::nearbyint(cover / unit);
            if (!(n >= 0.0 && n < 0x1.0p52)) return {};
            whole[node] = static_cast<std::uint64_t>(n);
        } else {
            whole[node] = whole[tree.left[node]] + whole[tree.left[node] + 1];
        }
        const double again = static_cast<double>(whole[node]) * unit;
        if (std::bit_cast<std::uint64_t>(again) != std::bit_cast<std::uint64_t>(cover)) return {};
    }
    return whole;
}

TreeRule rule_of(const Tree& tree) {
    TreeRule rule;
    rule.unit = find_unit(tree);
    const std::vector<NodeIndex> splits = first_splits(tree);
    if (splits.empty()) return rule;
    rule.l2 = find_l2(tree, splits);
    rule.gain_scale = find_gain_scale(tree, splits, rule);
    return rule;
}

}  // namespace coterie
