// Every node of a forest's tree makes the best split there is. The slow twin tries all cuts of all features.
#include "coterie/forest/sums.hpp"
#include "forests.hpp"

namespace coterie::tests {
namespace {

/// Sums of one node in double precision.
struct Slow {
    const Grown& grown;
    const PackedTree& tree;
    std::vector<std::uint16_t> counts;
    Criterion criterion;
    bool between_cells = false;  // only cuts between the coarse cells of large features

    double weight(RowIndex place) const { return counts[place] * grown.memory->bags->unit(place); }
    double target(RowIndex place) const { return grown.ranked.targets.value[place]; }

    std::uint32_t code(RowIndex place, std::size_t feature) const {
        const std::uint32_t code = grown.ranked.code(place, feature);
        if (grown.ranked.n_levels[feature] > 0) return tree.ranks[grown.forest.first_rank[feature] + code];
        return between_cells ? sums::Coarse::of(grown.ranked.table.features[feature].n_codes)(code) : code;
    }

    /// The squared error of numbers, the Gini impurity or the entropy of classes, times the weight of the rows.
    double error(const std::vector<RowIndex>& places) const {
        double all = 0.0;
        for (const RowIndex place : places) all += weight(place);
        if (!grown.ranked.targets.are_classes()) {
            double sum = 0.0;
            for (const RowIndex place : places) sum += weight(place) * target(place);
            double error = 0.0;
            for (const RowIndex place : places) error += weight(place) * std::pow(target(place) - sum / all, 2);
            return error;
        }
        double error = 0.0;
        for (std::uint32_t label = 0; label < grown.ranked.targets.n_classes[0]; ++label) {
            double own = 0.0;
            for (const RowIndex place : places) own += target(place) == label ? weight(place) : 0.0;
            if (criterion == Criterion::gini) error += own * (1.0 - own / all);
            if (criterion == Criterion::entropy && own > 0.0) error -= own * std::log2(own / all);
        }
        return error;
    }

    /// What a split takes from the error; nothing if a side is empty or has fewer rows than it must.
    template <class Goes>
    double gain(const std::vector<RowIndex>& places, std::size_t min_rows, Goes goes) const {
        std::vector<RowIndex> sides[2];
        for (const RowIndex place : places) sides[!goes(place)].push_back(place);
        if (std::min(sides[0].size(), sides[1].size()) < std::max<std::size_t>(1, min_rows)) return -1.0;
        return error(places) - error(sides[0]) - error(sides[1]);
    }

    double best_gain(const std::vector<RowIndex>& places, std::size_t min_rows) const {
        double best = -1.0;
        for (std::size_t feature = 0; feature < grown.ranked.n_features(); ++feature) {
            std::vector<std::uint32_t> cuts;
            for (const RowIndex place : places) cuts.push_back(code(place, feature));
            std::ranges::sort(cuts);
            cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
            const bool has_missing = cuts.front() == kMissingCode;
            for (const std::uint32_t cut : cuts)
                for (const bool missing_left : {false, true}) {
                    if (cut == kMissingCode || (missing_left && !has_missing)) continue;
                    const double one = gain(places, min_rows, [&](RowIndex place) {
                        const std::uint32_t own = code(place, feature);
                        return own == kMissingCode ? missing_left : own <= cut;
                    });
                    best = std::max(best, one);
                }
        }
        return best;
    }
};

void check_best(const TrainingSet& data, const ForestOptions& options, Location where = Location::current()) {
    const Grown grown = grow(data, options, {2});
    const std::size_t min_rows = options.tree.tree.min_rows_leaf;
    for (std::size_t index = 0; index < grown.forest.n_trees(); ++index) {
        const PackedTree& tree = grown.forest.tree(index);
        const Slow slow{grown, tree, grown.counts(index), options.tree.tree.criterion};
        for_nodes(grown, index, [&](const PackedNode& node, const std::vector<RowIndex>& places) {
            check(!places.empty(), "every node has rows", where);
            const double error = slow.error(places);
            if (error < 1e-12) return check(node.is_leaf(), "equal targets are not parted", where);
            const double best = slow.best_gain(places, min_rows);
            if (best < 0.0) return check(node.is_leaf(), "nothing parts the rows", where);
            check(!node.is_leaf(), "rows that can be parted are parted", where);
            const double gain =
                slow.gain(places, min_rows, [&](RowIndex place) { return grown.goes_left(tree, node, place); });
            // Cells of large nodes are compared in single precision.
            const double tolerance = error * (places.size() > 64 ? 1e-6 : 1e-9);
            check_near(gain, best, tolerance, where);
        });
    }
}

ForestOptions options_for(const TrainingSet& data, std::uint64_t seed) {
    ForestOptions options{.seed = seed};
    options.tree.tree.criterion = data.n_classes.empty() ? Criterion::squared_error : Criterion::gini;
    return options;
}

const Test best_of_two_classes("two classes are parted by the best cut of all features, with missing values", [] {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const TrainingSet data = random_training_set(seed, 60 + 70 * seed, 2 + seed, 2);
        check_best(data, options_for(data, seed));
    }
});

const Test best_of_numbers("numbers are parted by the best cut of all features, with missing values", [] {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const TrainingSet data = random_training_set(10 + seed, 60 + 70 * seed, 2 + seed, 0);
        check_best(data, options_for(data, seed));
    }
});

const Test best_of_many_classes("several classes are parted by the best cut of all features, with missing values", [] {
    for (const Criterion criterion : {Criterion::gini, Criterion::entropy})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            const TrainingSet data =
                random_training_set(80 + seed, 150 + 110 * seed, 2 + seed, 3 + 2 * static_cast<int>(seed));
            ForestOptions options = options_for(data, seed);
            options.tree.tree.criterion = criterion;
            check_best(data, options);
        }
});

const Test best_of_weighted("rows of any weight are parted by the best cut", [] {
    for (const std::int32_t n_classes : {0, 2, 4})
        for (const double unit : {1.0, 0.37}) {
            TrainingSet data = random_training_set(20, 150, 4, n_classes);
            for (std::size_t row = 0; row < 150; ++row) data.weight.push_back(unit * (1.0 + row % 4));
            check_best(data, options_for(data, 3));
        }
});

const Test best_valid("among the cuts that leave enough rows on both sides the best is taken", [] {
    for (const std::int32_t n_classes : {0, 2, 4}) {
        const TrainingSet data = random_training_set(30, 200, 4, n_classes);
        ForestOptions options = options_for(data, 4);
        options.tree.tree.min_rows_leaf = 6;
        check_best(data, options);
    }
});

const Test best_of_cells("with more values than cells, the split is at least as good as any between two cells", [] {
    for (const std::int32_t n_classes : {0, 2, 4}) {
        const TrainingSet data = random_training_set(40, 700, 2, n_classes, 1e6);
        ForestOptions options = options_for(data, 5);
        options.tree.tree.max_depth = 4;
        const Grown grown = grow(data, options, {1});
        check(grown.ranked.table.features[0].n_codes > 256, "values outnumber cells");
        const PackedTree& tree = grown.forest.tree(0);
        const Slow slow{grown, tree, grown.counts(0), options.tree.tree.criterion, true};
        for_nodes(grown, 0, [&](const PackedNode& node, const std::vector<RowIndex>& places) {
            if (node.is_leaf()) return;
            const double gain =
                slow.gain(places, 1, [&](RowIndex place) { return grown.goes_left(tree, node, place); });
            const double best = slow.best_gain(places, 1);
            check(gain >= best - 1e-6 * slow.error(places), "no cut between cells is better");
        });
    }
});

const Test missing_against_known("missing values are parted from all others where that is best, in cells too", [] {
    for (std::uint64_t seed = 0; seed < 12; ++seed)
        for (const std::int32_t n_classes : {0, 2, 4}) {
            TrainingSet data = random_training_set(60 + seed, 500, 1, n_classes, 1e6);
            for (std::size_t row = 0; row < 500; ++row) {
                const double noise = random_unit(seed, Purpose::rounding, row);
                const bool known = !std::isnan(data.table.values[0][row]);
                data.target[row] =
                    n_classes == 0 ? known + 0.2 * noise : (known || noise < 0.1 ? n_classes - 1.0 : 0.0);
            }
            ForestOptions options = options_for(data, seed);
            options.tree.tree.max_depth = 1;
            const Grown grown = grow(data, options, {1});
            const PackedNode& root = grown.forest.tree(0).nodes[0];
            check(!root.missing_left(), "missing values go right");
            for (Code code = 1; code <= grown.forest.groups[0].thresholds[0].size(); ++code)
                check(root.goes_left(code), "all others go left");
            check_equal(grown.forest.groups[0].thresholds[0].view().back(), std::numeric_limits<double>::infinity());
        }
});

const Test inside_a_cell("values of one cell are parted although others are missing", [] {
    // A thousand values make cells of eight codes. Where the second feature is 1 only two of them are left, in one
    // cell: 1 predicts 0; 2 and missing predict 1. One split does that.
    TrainingSet data{.table = {.values = {{}, {}}, .n_levels = {0, 0}}, .target = {}};
    const auto add = [&](double value, double group, double target) {
        data.table.values[0].push_back(value);
        data.table.values[1].push_back(group);
        data.target.push_back(target);
    };
    for (int i = 0; i < 1000; ++i) add(i - 1000, 0, 10);
    for (int i = 0; i < 40; ++i) {
        add(1, 1, 0);
        add(2, 1, 1);
        add(kMissing, 1, 1);
    }
    ForestOptions options{.bag = BagKind::all};
    options.tree.tree.criterion = Criterion::squared_error;
    check_equal(grow(data, options, {1}).forest.tree(0).nodes.size(), 5u);
});

}  // namespace
}  // namespace coterie::tests
