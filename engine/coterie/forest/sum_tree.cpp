#include "coterie/forest/sum_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

constexpr std::size_t kTinyNode = 24;    // rows that are sorted by code
constexpr std::size_t kDenseNode = 640;  // rows from which all cells are filled and scanned
constexpr std::size_t kBlockBytes = 192 << 10;
constexpr std::size_t kMostBlockRows = 4096;
constexpr std::size_t kTogether = 4;  // features that share a pass over the rows of a dense node
constexpr std::size_t kAhead = 16;    // records between a prefetch and its use
constexpr double kForbidden = criterion::kForbidden;

struct Record {
    double sum;
    float weight;
    std::uint32_t row;
};

struct Sums {
    double sum = 0.0;
    double weight = 0.0;

    Sums& operator+=(const Sums& other) {
        sum += other.sum;
        weight += other.weight;
        return *this;
    }
    friend Sums operator+(Sums a, const Sums& b) { return a += b; }
    friend Sums operator-(const Sums& a, const Sums& b) { return {a.sum - b.sum, a.weight - b.weight}; }
};

// Two classes by Gini, or numbers by squared error: up to a factor the same thing.
struct SquareScore {
    static double node(Sums s) { return s.sum * s.sum / s.weight; }
    static double split(Sums l, Sums r) {
        return (l.sum * l.sum * r.weight + r.sum * r.sum * l.weight) / (l.weight * r.weight);
    }
};

double x_log_x(double x) { return x > 0.0 ? x * criterion::log_base_2(x) : 0.0; }

struct EntropyScore {
    static double node(Sums s) { return x_log_x(s.sum) + x_log_x(s.weight - s.sum) - x_log_x(s.weight); }
    static double split(Sums l, Sums r) { return node(l) + node(r); }
};

struct PoissonScore {
    static double node(Sums s) { return s.sum > 0.0 ? s.sum * std::log(s.sum / s.weight) : 0.0; }
    static double split(Sums l, Sums r) {  // a mean of zero cannot be predicted
        return l.sum > 0.0 && r.sum > 0.0 ? node(l) + node(r) : kForbidden;
    }
};

struct Split {
    double score = kForbidden;
    FeatureIndex feature = 0;
    std::uint32_t code = 0;  // the last that goes left
    std::uint32_t next = 0;  // coarse: the first cell on the right; `code` is then the last cell on the left
    bool coarse = false;
    bool missing_left = false;
    Sums left;

    bool found() const { return score != kForbidden; }
};

struct Job {
    std::size_t begin;
    std::size_t end;
    std::size_t out_begin;
    std::size_t out_end;
    NodeIndex node;
    std::uint32_t depth;
    std::uint32_t state;  // of allowed features
    bool local;
    Sums total;

    std::size_t size() const { return end - begin; }
};

// A stream of random numbers: the order of growth is fixed, so a counter will do.
class Stream {
public:
    explicit Stream(std::uint64_t seed = 0) : state_(seed) {}
    std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15ull); }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((bits() >> 32) * n) >> 32); }
    double unit() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t state_;
};

// Codes of one feature, with what makes them coarse. Missing stays 0.
struct Coarse {
    std::uint32_t add = 0;
    std::uint32_t shift = 0;

    std::uint32_t operator()(std::uint32_t code) const { return (code + add) >> shift; }
    static Coarse of(std::uint32_t n_codes) {
        Coarse coarse;
        while (coarse(n_codes - 1) > 255) {
            ++coarse.shift;
            coarse.add = (1u << coarse.shift) - 1;
        }
        return coarse;
    }
};

template <class Score, bool kRandom, bool kCountRows>
class Grower final : public SumTreeGrower {
public:
    Grower(const ForestRows& rows, const WholeTargets& targets, const ForestTreeOptions& options,
           const PackedForest& forest)
        : rows_(rows),
          targets_(targets),
          options_(options),
          forest_(forest),
          allowed_(options, rows.n_features()),
          stride_(rows.table.row_stride),
          block_rows_(std::clamp<std::size_t>(kBlockBytes / (stride_ * sizeof(Code)), 64, kMostBlockRows)) {
        for (const RankedFeature& feature : rows.table.features) coarse_.push_back(Coarse::of(feature.n_codes));
        block_.resize(block_rows_ * stride_ + 32);
        block_place_.resize(block_rows_);
        cells_.assign(kTogether * 256, {});
        counts_.assign(kTogether * 256, 0);
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
            if (rows.n_levels[feature] > 0) nominal_.push_back(static_cast<FeatureIndex>(feature));
        if constexpr (kRandom) make_value_tables();
    }

    Sapling grow(const Bag& bag, std::vector<std::uint16_t> ranks) override {
        bag_ = &bag;
        tree_ = {};
        tree_.ranks = std::move(ranks);
        tree_.out_leaf.assign(bag.out.size(), 0);
        random_ = Stream(random_bits(bag.seed, Purpose::feature_draw, 0));
        allowed_.start_tree(bag.seed);
        fill_records(bag);
        Sums total;
        for (const Record& record : records_) total += {record.sum, record.weight};
        total_weight_ = total.weight;
        new_node(total);
        stack_.push_back({.begin = 0,
                          .end = records_.size(),
                          .out_begin = 0,
                          .out_end = bag.out.size(),
                          .node = 0,
                          .depth = 0,
                          .state = allowed_.root(),
                          .local = false,
                          .total = total});
        while (!stack_.empty()) {
            const Job job = stack_.back();
            stack_.pop_back();
            if (!job.local && job.size() <= block_rows_)
                grow_block(job);
            else
                grow_node(job);
        }
        return std::move(tree_);
    }

private:
    void fill_records(const Bag& bag) {
        records_.resize(bag.in.size());
        twin_.resize(bag.in.size());
        exact_ = true;
        for (std::size_t i = 0; i < bag.in.size(); ++i) {
            const auto weight = static_cast<float>(bag.weight[i]);
            exact_ = exact_ && weight == std::floor(weight);
            const RowIndex place = bag.in[i];
            records_[i] = {.sum = static_cast<double>(weight) * targets_.value[place], .weight = weight, .row = place};
        }
        out_.resize(bag.out.size());
        out_twin_.resize(bag.out.size());
        for (std::size_t i = 0; i < bag.out.size(); ++i) out_[i] = static_cast<std::uint32_t>(i);
    }

    NodeIndex new_node(const Sums& total) {
        const auto node = static_cast<NodeIndex>(tree_.nodes.size());
        tree_.nodes.push_back({.left = 0, .what = PackedNode::kLeafFlag});
        tree_.weight.push_back(total.weight);
        tree_.gain.push_back(0.0);
        const double mean = total.sum / total.weight;
        if (rows_.targets.are_classes()) {
            tree_.value.push_back(1.0 - mean);
            tree_.value.push_back(mean);
        } else {
            tree_.value.push_back(targets_.centre + mean * targets_.unit);
        }
        return node;
    }

    // The subtree of a node whose rows fit into the block: nothing else is grown until it is done.
    void grow_block(Job job) {
        for (std::size_t i = job.begin; i < job.end; ++i) {
            if (i + kAhead < job.end) __builtin_prefetch(rows_.table.row(records_[i + kAhead].row));
            const std::size_t local = i - job.begin;
            const RowIndex place = records_[i].row;
            Code* const codes = block_.data() + local * stride_;
            std::memcpy(codes, rows_.table.row(place), stride_ * sizeof(Code));
            for (const FeatureIndex feature : nominal_)
                codes[feature] = tree_.ranks[forest_.first_rank[feature] + codes[feature]];
            block_place_[local] = place;
            records_[i].row = static_cast<std::uint32_t>(local);
        }
        const Job top = job;
        job.local = true;
        const std::size_t depth = stack_.size();
        stack_.push_back(job);
        while (stack_.size() > depth) {
            const Job next = stack_.back();
            stack_.pop_back();
            grow_node(next);
        }
        walk_out_of_bag(top);
    }

    void grow_node(const Job& job) {
        if (!may_split(job)) return finish_leaf(job);
        base_ = job.local ? block_.data() : rows_.table.codes.data();
        Split best = search(job);
        if (!best.found()) return finish_leaf(job);
        const double gain = (best.score - Score::node(job.total)) * factor_ / total_weight_;
        if (gain + criterion::kTiny < options_.tree.min_impurity_decrease) return finish_leaf(job);
        // Beside very heavy rows the weight of a side may round to nothing, and its score to infinity.
        part(job, best, std::isfinite(gain) ? std::max(0.0, gain) : 0.0);
    }

    bool may_split(const Job& job) const {
        const CriterionOptions& options = options_.tree;
        if (job.depth >= options.max_depth || job.size() < options.min_rows_split ||
            job.size() < 2 * options.min_rows_leaf || job.total.weight < 2 * options.min_weight_leaf)
            return false;
        const auto target = [&](std::size_t i) {
            return targets_.value[job.local ? block_place_[records_[i].row] : records_[i].row];
        };
        const double first = target(job.begin);
        for (std::size_t i = job.begin + 1; i < job.end; ++i)
            if (target(i) != first) return true;
        return false;
    }

    void finish_leaf(const Job& job) {
        if (!rows_.targets.are_classes()) {  // the mean of the targets themselves
            double sum = 0.0;
            double weight = 0.0;
            bool same = true;
            const auto target = [&](std::size_t i) {
                return rows_.targets.value[job.local ? block_place_[records_[i].row] : records_[i].row];
            };
            const double first = target(job.begin);
            for (std::size_t i = job.begin; i < job.end; ++i) {
                const double value = target(i);
                same = same && value == first;
                sum += static_cast<double>(records_[i].weight) * (value - first);
                weight += records_[i].weight;
            }
            tree_.value[job.node] = same ? first : first + sum / weight;
        }
        if (!job.local)
            for (std::size_t i = job.out_begin; i < job.out_end; ++i) tree_.out_leaf[out_[i]] = job.node;
    }

    const Code* row_of(const Record& record) const { return base_ + std::size_t{record.row} * stride_; }

    bool is_remapped(FeatureIndex feature) const {
        return !nominal_.empty() && rows_.n_levels[feature] > 0 && base_ != block_.data();
    }

    std::uint32_t code_of(const Record& record, FeatureIndex feature) const {
        const Code code = row_of(record)[feature];
        return is_remapped(feature) ? tree_.ranks[forest_.first_rank[feature] + code] : code;
    }

    // Draws features until enough have been tried and one of them varies.
    Split search(const Job& job) {
        std::vector<FeatureIndex>& features = allowed_.features(job.state);
        const std::size_t n_features = features.size();
        const std::size_t limit = options_.tree.max_features;
        const std::size_t wanted = limit == 0 ? n_features : std::min(limit, n_features);
        Split best;
        varies_ = false;
        std::size_t tried = 0;
        while (tried < n_features && (tried < wanted || !varies_)) {
            const std::size_t n = std::min<std::size_t>(kTogether, tried < wanted ? wanted - tried : 1);
            for (std::size_t i = tried; i < tried + n; ++i)
                std::swap(features[i], features[i + random_.below(static_cast<std::uint32_t>(n_features - i))]);
            const std::span<const FeatureIndex> now(features.data() + tried, n);
            if constexpr (kRandom)
                draw_thresholds(job, now, best);
            else if (job.size() > kDenseNode)
                search_dense(job, now, best);
            else if (job.size() > kTinyNode)
                for (const FeatureIndex feature : now) search_touched(job, feature, best);
            else
                for (const FeatureIndex feature : now) search_tiny(job, feature, best);
            tried += n;
        }
        if (best.found() && best.coarse) refine(job, best);
        return best;
    }

    /// What a walk over the codes of a feature needs to judge a cut.
    struct Walk {
        Sums total;
        Sums missing;
        std::uint32_t n_rows;
        std::uint32_t n_missing;
    };

    bool is_lawful(const Walk& walk, const Sums& left, std::uint32_t n_left) const {
        if constexpr (kCountRows) {
            const std::size_t least = options_.tree.min_rows_leaf;
            if (n_left < least || walk.n_rows - n_left < least) return false;
            const double least_weight = options_.tree.min_weight_leaf;
            return left.weight >= least_weight && walk.total.weight - left.weight >= least_weight;
        }
        return true;
    }

    // Codes up to `code` go left. Returns whether this became the best.
    bool judge(const Walk& walk, Sums left, std::uint32_t n_left, FeatureIndex feature, std::uint32_t code,
               Split& best) {
        bool better = false;
        const auto try_one = [&](const Sums& side, std::uint32_t n_side, bool missing_left) {
            if (!is_lawful(walk, side, n_side)) return;
            const double score = Score::split(side, walk.total - side);
            if (score > best.score) {
                best = {.score = score, .feature = feature, .code = code, .missing_left = missing_left, .left = side};
                better = true;
            }
        };
        try_one(left, n_left, false);
        if (walk.missing.weight > 0.0) try_one(left + walk.missing, n_left + walk.n_missing, true);
        return better;
    }

    // Known values on the left, missing ones on the right.
    void judge_missing(const Walk& walk, FeatureIndex feature, Split& best) {
        const Sums left = walk.total - walk.missing;
        const std::uint32_t n_left = walk.n_rows - walk.n_missing;
        if (!is_lawful(walk, left, n_left)) return;
        const double score = Score::split(left, walk.missing);
        if (score > best.score)
            best = {.score = score,
                    .feature = feature,
                    .code = rows_.table.features[feature].n_codes - 1,
                    .missing_left = false,
                    .left = left};
    }

    // Without missing values in the node, they follow the heavier side.
    void settle_missing(const Walk& walk, Split& best) const {
        if (walk.missing.weight == 0.0) best.missing_left = best.left.weight * 2 > walk.total.weight;
    }

    void search_tiny(const Job& job, FeatureIndex feature, Split& best) {
        std::array<std::uint32_t, kTinyNode> keys;
        const std::size_t n = job.size();
        const bool remapped = is_remapped(feature);
        for (std::size_t i = 0; i < n; ++i) {
            const Record& record = records_[job.begin + i];
            const std::uint32_t code = remapped ? code_of(record, feature) : row_of(record)[feature];
            keys[i] = code << 16 | static_cast<std::uint32_t>(i);
        }
        sort_tiny(keys.data(), n);
        if (keys[0] >> 16 == keys[n - 1] >> 16) return;
        varies_ = true;
        judge_sorted(job, feature, {keys.data(), n}, {}, 0, job.total, static_cast<std::uint32_t>(n), best);
    }

    static void sort_tiny(std::uint32_t* keys, std::size_t n) {
        for (std::size_t i = 1; i < n; ++i) {
            const std::uint32_t key = keys[i];
            std::size_t hole = i;
            for (; hole > 0 && keys[hole - 1] > key; --hole) keys[hole] = keys[hole - 1];
            keys[hole] = key;
        }
    }

    // Keys are code << 16 | position, ascending; positions count from the job's first record (or index `chosen_`).
    // `below` and `n_below` are already on the left.
    void judge_sorted(const Job& job, FeatureIndex feature, std::span<const std::uint32_t> keys, Sums below,
                      std::uint32_t n_below, const Sums& total, std::uint32_t n_rows, Split& best) {
        Walk walk{.total = total, .missing = {}, .n_rows = n_rows, .n_missing = 0};
        std::size_t i = 0;
        for (; i < keys.size() && keys[i] >> 16 == kMissingCode; ++i) {
            const Record& record = records_[job.begin + (keys[i] & 0xffff)];
            walk.missing += {record.sum, record.weight};
            ++walk.n_missing;
        }
        if (walk.missing.weight > 0.0) judge_missing(walk, feature, best);
        Sums left = below;
        std::uint32_t n_left = n_below;
        bool better = false;
        for (; i + 1 < keys.size(); ++i) {
            const Record& record = records_[job.begin + (keys[i] & 0xffff)];
            left += {record.sum, record.weight};
            ++n_left;
            const std::uint32_t code = keys[i] >> 16;
            const std::uint32_t next = keys[i + 1] >> 16;
            if (code != next) better |= judge(walk, left, n_left, feature, (code + next) / 2, best);
        }
        if (better) settle_missing(walk, best);
    }

    void search_touched(const Job& job, FeatureIndex feature, Split& best) {
        const Coarse coarse = coarse_[feature];
        std::array<std::uint64_t, 4> touched{};
        Sums* const cells = cells_.data();
        const bool remapped = is_remapped(feature);
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const Record& record = records_[i];
            const std::uint32_t code = remapped ? code_of(record, feature) : row_of(record)[feature];
            const std::uint32_t cell = coarse(code);
            touched[cell >> 6] |= std::uint64_t{1} << (cell & 63);
            cells[cell].sum += record.sum;
            cells[cell].weight += record.weight;
            if constexpr (kCountRows) ++counts_[cell];
        }
        judge_touched(job, feature, touched, coarse.shift > 0, best);
    }

    // Walks the touched cells in order and leaves them empty.
    void judge_touched(const Job& job, FeatureIndex feature, std::array<std::uint64_t, 4> touched, bool coarse,
                       Split& best) {
        Sums* const cells = cells_.data();
        Walk walk{.total = job.total, .missing = {}, .n_rows = static_cast<std::uint32_t>(job.size()), .n_missing = 0};
        if (touched[0] & 1) {
            walk.missing = std::exchange(cells[0], {});
            if constexpr (kCountRows) walk.n_missing = std::exchange(counts_[0], 0);
            touched[0] &= ~std::uint64_t{1};
        }
        const int n_cells = std::popcount(touched[0]) + std::popcount(touched[1]) + std::popcount(touched[2]) +
                            std::popcount(touched[3]);
        if (n_cells == 1) {
            clear(touched);
            if (coarse) return search_inside(job, feature, best);
        }
        if (n_cells + (walk.missing.weight > 0.0) < 2) return;
        varies_ = true;
        if (walk.missing.weight > 0.0) judge_missing(walk, feature, best);
        if (n_cells < 2) return;
        Sums left;
        std::uint32_t n_left = 0;
        std::uint32_t last = 0;
        bool better = false;
        for (std::uint32_t word = 0; word < 4; ++word) {
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
                const std::uint32_t cell = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
                if (last > 0 && judge(walk, left, n_left, feature, last, best)) {
                    best.next = cell;
                    better = true;
                }
                left += std::exchange(cells[cell], {});
                if constexpr (kCountRows) n_left += std::exchange(counts_[cell], 0);
                last = cell;
            }
        }
        if (!better) return;
        settle_missing(walk, best);
        best.coarse = coarse;
        if (!coarse) best.code = (best.code + best.next) / 2;
    }

    void clear(const std::array<std::uint64_t, 4>& touched) {
        for (std::uint32_t word = 0; word < 4; ++word)
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
                cells_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))] = {};
                counts_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))] = 0;
            }
    }

    // All known values lie in one coarse cell: its codes are at most 256, so they can have cells of their own.
    void search_inside(const Job& job, FeatureIndex feature, Split& best) {
        std::uint32_t base = 0;
        for (std::size_t i = job.begin; i < job.end && base == 0; ++i)
            if (const std::uint32_t code = code_of(records_[i], feature); code > 0)
                base = ((coarse_[feature](code) - 1) << coarse_[feature].shift) + 1;
        std::vector<std::uint32_t>& keys = keys_;
        keys.clear();
        keys.reserve(job.size());
        if (job.size() > 65535) return search_inside_large(job, feature, base, best);
        for (std::size_t i = job.begin; i < job.end; ++i)
            keys.push_back(code_of(records_[i], feature) << 16 | static_cast<std::uint32_t>(i - job.begin));
        std::ranges::sort(keys);
        if (keys.front() >> 16 == keys.back() >> 16) return;
        varies_ = true;
        judge_sorted(job, feature, keys, {}, 0, job.total, static_cast<std::uint32_t>(job.size()), best);
    }

    void search_inside_large(const Job& job, FeatureIndex feature, std::uint32_t base, Split& best) {
        std::vector<Sums> cells(257);
        std::vector<std::uint32_t> counts(257, 0);
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const std::uint32_t code = code_of(records_[i], feature);
            const std::uint32_t cell = code == kMissingCode ? 0 : code - base + 1;
            cells[cell] += {records_[i].sum, records_[i].weight};
            ++counts[cell];
        }
        Walk walk{.total = job.total,
                  .missing = cells[0],
                  .n_rows = static_cast<std::uint32_t>(job.size()),
                  .n_missing = counts[0]};
        if (walk.missing.weight > 0.0) judge_missing(walk, feature, best);
        Sums left;
        std::uint32_t n_left = 0;
        std::uint32_t last = 0;
        bool better = false;
        for (std::uint32_t cell = 1; cell < 257; ++cell) {
            if (counts[cell] == 0) continue;
            if (last > 0) better |= judge(walk, left, n_left, feature, base - 1 + (last + cell) / 2, best);
            left += cells[cell];
            n_left += counts[cell];
            varies_ = varies_ || last > 0;
            last = cell;
        }
        if (better) settle_missing(walk, best);
    }

    template <std::size_t kFeatures>
    void fill_dense(const Job& job, const FeatureIndex* features) {
        std::array<Coarse, kFeatures> coarse;
        std::array<FeatureIndex, kFeatures> column;
        std::array<const std::uint16_t*, kFeatures> ranks{};
        bool remapped = false;
        for (std::size_t k = 0; k < kFeatures; ++k) {
            coarse[k] = coarse_[features[k]];
            column[k] = features[k];
            if (is_remapped(features[k])) {
                ranks[k] = tree_.ranks.data() + forest_.first_rank[features[k]];
                remapped = true;
            }
        }
        Sums* const cells = cells_.data();
        std::uint32_t* const counts = counts_.data();
        const Code* const base = base_;
        const std::size_t stride = stride_;
        const Record* const records = records_.data();
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const Record record = records[i];
            if (i + kAhead < job.end)
                __builtin_prefetch(base + std::size_t{records[i + kAhead].row} * stride + column[0]);
            const Code* const row = base + std::size_t{record.row} * stride;
            const double weight = record.weight;
            for (std::size_t k = 0; k < kFeatures; ++k) {
                std::uint32_t code = row[column[k]];
                if (remapped && ranks[k] != nullptr) code = ranks[k][code];
                const std::size_t cell = 256 * k + coarse[k](code);
                cells[cell].sum += record.sum;
                cells[cell].weight += weight;
                if constexpr (kCountRows) ++counts[cell];
            }
        }
    }

    void search_dense(const Job& job, std::span<const FeatureIndex> features, Split& best) {
        switch (features.size()) {
            case 1: fill_dense<1>(job, features.data()); break;
            case 2: fill_dense<2>(job, features.data()); break;
            case 3: fill_dense<3>(job, features.data()); break;
            default: fill_dense<4>(job, features.data()); break;
        }
        static_assert(kTogether == 4);
        for (std::size_t k = 0; k < features.size(); ++k) judge_dense(job, features[k], 256 * k, best);
    }

    void judge_dense(const Job& job, FeatureIndex feature, std::size_t first, Split& best) {
        Sums* const cells = cells_.data() + first;
        std::uint32_t* const counts = counts_.data() + first;
        const Coarse coarse = coarse_[feature];
        const std::uint32_t n_cells = coarse(rows_.table.features[feature].n_codes - 1) + 1;
        Walk walk{.total = job.total,
                  .missing = cells[0],
                  .n_rows = static_cast<std::uint32_t>(job.size()),
                  .n_missing = counts[0]};
        std::uint32_t lowest = 1;
        std::uint32_t highest = n_cells - 1;
        while (lowest < n_cells && cells[lowest].weight == 0.0) ++lowest;
        while (highest > lowest && cells[highest].weight == 0.0) --highest;
        const bool known = lowest < n_cells;
        if (known && lowest == highest && coarse.shift > 0) {
            std::fill_n(cells, n_cells, Sums{});
            std::fill_n(counts, n_cells, 0u);
            return search_inside(job, feature, best);
        }
        if (known && (lowest < highest || walk.missing.weight > 0.0)) {
            varies_ = true;
            if (walk.missing.weight > 0.0) judge_missing(walk, feature, best);
            Sums left;
            std::uint32_t n_left = 0;
            bool better = false;
            for (std::uint32_t cell = lowest; cell < highest; ++cell) {
                left += cells[cell];
                if constexpr (kCountRows) n_left += counts[cell];
                better |= judge(walk, left, n_left, feature, cell, best);
            }
            if (better) {
                settle_missing(walk, best);
                std::uint32_t next = best.code + 1;
                while (cells[next].weight == 0.0) ++next;
                best.next = next;
                best.coarse = coarse.shift > 0;
                if (!best.coarse) best.code = (best.code + next) / 2;
            }
        }
        std::fill_n(cells, n_cells, Sums{});
        if constexpr (kCountRows) std::fill_n(counts, n_cells, 0u);
    }

    // The best cut lies between two cells; the exact one is looked for among the codes of both.
    void refine(const Job& job, Split& best) {
        const FeatureIndex feature = best.feature;
        const Coarse coarse = coarse_[feature];
        const std::uint32_t low = best.code;
        const std::uint32_t high = best.next;
        const std::uint32_t from = ((low - 1) << coarse.shift) + 1;  // the first code of the low cell
        const std::uint32_t to = high << coarse.shift;               // the last code of the high one
        const std::uint32_t high_from = ((high - 1) << coarse.shift) + 1;
        std::vector<std::uint64_t>& wide = wide_keys_;
        wide.clear();
        const bool remapped = is_remapped(feature);
        Sums low_cell;
        Walk walk{.total = job.total, .missing = {}, .n_rows = static_cast<std::uint32_t>(job.size()), .n_missing = 0};
        std::uint32_t n_below = 0;
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const Record& record = records_[i];
            const std::uint32_t code = remapped ? code_of(record, feature) : row_of(record)[feature];
            if (code == kMissingCode) {
                walk.missing += {record.sum, record.weight};
                ++walk.n_missing;
                continue;
            }
            n_below += code < from;
            if (code < from || code > to) continue;
            wide.push_back(std::uint64_t{code} << 32 | static_cast<std::uint32_t>(i));
            if (code < high_from) low_cell += {record.sum, record.weight};
        }
        std::ranges::sort(wide);
        Sums left = best.left - low_cell;
        if (best.missing_left && walk.missing.weight > 0.0) left = left - walk.missing;
        std::uint32_t n_left = n_below;
        Split exact;
        bool better = false;
        for (std::size_t k = 0; k + 1 < wide.size(); ++k) {
            const Record& record = records_[static_cast<std::uint32_t>(wide[k])];
            left += {record.sum, record.weight};
            ++n_left;
            const auto code = static_cast<std::uint32_t>(wide[k] >> 32);
            const auto next = static_cast<std::uint32_t>(wide[k + 1] >> 32);
            if (code != next) better |= judge(walk, left, n_left, feature, (code + next) / 2, exact);
        }
        if (!better) {  // rounding of weights that are no whole numbers; the cut between the cells is lawful
            best.code = high_from - 1;
            best.coarse = false;
            return;
        }
        settle_missing(walk, exact);
        best = exact;
    }

    // Extra trees: a threshold between the least and the greatest value of the node, drawn evenly.
    void make_value_tables() {
        for (std::size_t feature = 0; feature < rows_.n_features(); ++feature) {
            const RankedFeature& ranks = rows_.table.features[feature];
            const Coarse coarse = coarse_[feature];
            const std::uint32_t n_cells = coarse(ranks.n_codes - 1) + 1;
            std::vector<double>& edge = edges_.emplace_back(n_cells + 1, 0.0);
            if (rows_.n_levels[feature] > 0) {
                for (std::uint32_t cell = 1; cell <= n_cells; ++cell) edge[cell] = cell;
                continue;
            }
            double low = ranks.n_codes > 1 ? ranks.lowest(1) : 0.0;
            double high = ranks.n_codes > 1 ? ranks.highest(static_cast<Code>(ranks.n_codes - 1)) : 0.0;
            low = std::max(low, -std::numeric_limits<double>::max() / 4);
            high = std::min(high, std::numeric_limits<double>::max() / 4);
            for (std::uint32_t cell = 1; cell < n_cells; ++cell) {
                const auto code = static_cast<Code>(((cell - 1) << coarse.shift) + 1);
                edge[cell] = std::clamp(ranks.lowest(code), low, high);
            }
            edge[n_cells] = high;
        }
    }

    // About the value of a code: even within a coarse cell.
    double value_of(FeatureIndex feature, std::uint32_t code) const {
        const Coarse coarse = coarse_[feature];
        const std::uint32_t cell = coarse(code);
        const std::uint32_t first = ((cell - 1) << coarse.shift) + 1;
        const std::vector<double>& edge = edges_[feature];
        const double within = static_cast<double>(code - first) / static_cast<double>(1u << coarse.shift);
        return edge[cell] + within * (edge[cell + 1] - edge[cell]);
    }

    std::uint32_t draw_code(FeatureIndex feature, std::uint32_t low, std::uint32_t high) {
        const double u = random_.unit();
        const Coarse coarse = coarse_[feature];
        const std::uint32_t low_cell = coarse(low);
        const std::uint32_t high_cell = coarse(high);
        std::uint32_t code;
        if (low_cell == high_cell || rows_.n_levels[feature] > 0) {
            code = low + static_cast<std::uint32_t>(u * (high - low));
        } else {
            const std::vector<double>& edge = edges_[feature];
            const double from = value_of(feature, low);
            const double threshold = from + u * (value_of(feature, high) - from);
            std::uint32_t cell = low_cell;
            for (std::uint32_t n = high_cell - low_cell + 1; n > 1;) {  // the last cell that begins at or below
                const std::uint32_t half = n / 2;
                cell = edge[cell + half] <= threshold ? cell + half : cell;
                n -= half;
            }
            const double width = edge[cell + 1] - edge[cell];
            const double within = width > 0.0 ? (threshold - edge[cell]) / width : 0.0;
            code = ((cell - 1) << coarse.shift) + 1 +
                   static_cast<std::uint32_t>(std::clamp(within, 0.0, 1.0) *
                                              static_cast<double>((1u << coarse.shift) - 1));
        }
        return std::clamp(code, low, high - 1);
    }

    void draw_thresholds(const Job& job, std::span<const FeatureIndex> features, Split& best) {
        const std::size_t n = job.size();
        if (codes_.size() < n * kTogether) codes_.resize(n * kTogether);
        std::array<std::uint32_t, kTogether> low;
        std::array<std::uint32_t, kTogether> high;
        low.fill(0xffff);
        high.fill(0);
        for (std::size_t k = 0; k < features.size(); ++k) {
            const FeatureIndex feature = features[k];
            const bool remapped = is_remapped(feature);
            Code* const codes = codes_.data() + k * n;
            std::uint16_t lowest = 0xffff;
            std::uint16_t highest = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const Record& record = records_[job.begin + i];
                const auto code =
                    static_cast<std::uint16_t>(remapped ? code_of(record, feature) : row_of(record)[feature]);
                codes[i] = code;
                lowest = std::min(lowest, static_cast<std::uint16_t>(code - 1));  // missing becomes the highest
                highest = std::max(highest, code);
            }
            low[k] = lowest + 1u;
            high[k] = highest;
        }
        for (std::size_t k = 0; k < features.size(); ++k) {
            const bool has_missing = std::find(codes_.data() + k * n, codes_.data() + (k + 1) * n, kMissingCode) !=
                                     codes_.data() + (k + 1) * n;
            if (high[k] == 0 || (low[k] == high[k] && !has_missing)) continue;
            varies_ = true;
            judge_drawn(job, features[k], {codes_.data() + k * n, n}, low[k], high[k], has_missing, best);
        }
    }

    void judge_drawn(const Job& job, FeatureIndex feature, std::span<const Code> codes, std::uint32_t low,
                     std::uint32_t high, bool has_missing, Split& best) {
        const bool missing_left = has_missing && low < high && (random_.bits() >> 63) != 0;
        const std::uint32_t code = low < high ? draw_code(feature, low, high) : high;
        const auto shift = static_cast<std::uint16_t>(missing_left ? 0 : 1);
        const auto last = static_cast<std::uint16_t>(code - shift);
        Sums left;
        std::uint32_t n_left = 0;
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const bool goes = static_cast<std::uint16_t>(codes[i] - shift) <= last;
            const Record& record = records_[job.begin + i];
            left.sum += goes ? record.sum : 0.0;
            left.weight += goes ? static_cast<double>(record.weight) : 0.0;
            n_left += goes;
        }
        Walk walk{.total = job.total, .missing = {}, .n_rows = static_cast<std::uint32_t>(job.size()), .n_missing = 0};
        if (!is_lawful(walk, left, n_left)) return;
        const double score = Score::split(left, job.total - left);
        if (score <= best.score) return;
        best = {.score = score, .feature = feature, .code = code, .missing_left = missing_left, .left = left};
        if (!has_missing) best.missing_left = left.weight * 2 > job.total.weight;
    }

    void part(const Job& job, const Split& split, double gain) {
        PackedNode& node = tree_.nodes[job.node];
        node.what = split.feature | (split.missing_left ? 0 : PackedNode::kMissingRight) |
                    (rows_.n_levels[split.feature] > 0 ? PackedNode::kNominal : 0);
        node.code = static_cast<std::uint16_t>(split.code);
        const PackedNode rule = node;
        Record* left = records_.data() + job.begin;
        Record* right = twin_.data();
        const bool remapped = is_remapped(split.feature);
        const std::size_t stride = stride_;
        const Code* const column = base_ + split.feature;
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const Record record = records_[i];
            if (!job.local && i + kAhead < job.end)
                __builtin_prefetch(column + std::size_t{records_[i + kAhead].row} * stride);
            const bool goes_left =
                rule.goes_left(remapped ? code_of(record, split.feature) : column[std::size_t{record.row} * stride]);
            *left = record;
            *right = record;
            left += goes_left;
            right += !goes_left;
        }
        std::copy(twin_.data(), right, left);
        const auto middle = static_cast<std::size_t>(left - records_.data());
        const std::size_t out_middle = job.local ? 0 : part_out(job, rule);

        Sums left_total = split.left;
        Sums right_total = job.total - split.left;
        if (!exact_) {
            left_total = right_total = {};
            for (std::size_t i = job.begin; i < middle; ++i) left_total += {records_[i].sum, records_[i].weight};
            for (std::size_t i = middle; i < job.end; ++i) right_total += {records_[i].sum, records_[i].weight};
        }
        tree_.gain[job.node] = gain;
        tree_.nodes[job.node].share = static_cast<std::uint16_t>(
            std::lround(65535.0 * std::clamp(left_total.weight / job.total.weight, 0.0, 1.0)));
        const NodeIndex child = new_node(left_total);
        new_node(right_total);
        tree_.nodes[job.node].left = child;
        const std::uint32_t state = allowed_.after(job.state, split.feature);
        Job right_job = job;
        right_job.begin = middle;
        right_job.out_begin = out_middle;
        right_job.node = child + 1;
        right_job.depth = job.depth + 1;
        right_job.state = state;
        right_job.total = right_total;
        Job left_job = right_job;
        left_job.begin = job.begin;
        left_job.end = middle;
        left_job.out_begin = job.out_begin;
        left_job.out_end = out_middle;
        left_job.node = child;
        left_job.total = left_total;
        stack_.push_back(right_job);
        stack_.push_back(left_job);
    }

    // Rows out of the bag go the way of the others.
    std::size_t part_out(const Job& job, const PackedNode& rule) {
        std::uint32_t* left = out_.data() + job.out_begin;
        std::uint32_t* right = out_twin_.data();
        const FeatureIndex feature = rule.feature();
        const std::uint16_t* const ranks =
            rule.is_nominal() ? tree_.ranks.data() + forest_.first_rank[feature] : nullptr;
        for (std::size_t i = job.out_begin; i < job.out_end; ++i) {
            const std::uint32_t index = out_[i];
            if (i + kAhead < job.out_end) __builtin_prefetch(rows_.table.row(bag_->out[out_[i + kAhead]]) + feature);
            const Code code = rows_.table.row(bag_->out[index])[feature];
            const bool goes_left = rule.goes_left(ranks == nullptr ? code : ranks[code]);
            *left = index;
            *right = index;
            left += goes_left;
            right += !goes_left;
        }
        std::copy(out_twin_.data(), right, left);
        return static_cast<std::size_t>(left - out_.data());
    }

    void walk_out_of_bag(const Job& job) {
        constexpr std::size_t kLanes = 8;
        const PackedNode* const nodes = tree_.nodes.data();
        for (std::size_t first = job.out_begin; first < job.out_end; first += kLanes) {
            const std::size_t n = std::min(kLanes, job.out_end - first);
            std::array<NodeIndex, kLanes> at;
            std::array<const Code*, kLanes> row;
            for (std::size_t k = 0; k < kLanes; ++k) {
                at[k] = job.node;
                row[k] = rows_.table.row(bag_->out[out_[first + std::min(k, n - 1)]]);
                __builtin_prefetch(row[k]);
            }
            for (bool moved = true; moved;) {
                moved = false;
                for (std::size_t k = 0; k < kLanes; ++k) {
                    const PackedNode& node = nodes[at[k]];
                    if (node.is_leaf()) continue;
                    moved = true;
                    const FeatureIndex feature = node.feature();
                    std::uint32_t code = row[k][feature];
                    if (node.is_nominal()) code = tree_.ranks[forest_.first_rank[feature] + code];
                    at[k] = node.left + !node.goes_left(code);
                }
            }
            for (std::size_t k = 0; k < n; ++k) tree_.out_leaf[out_[first + k]] = at[k];
        }
    }

    const ForestRows& rows_;
    const WholeTargets& targets_;
    const ForestTreeOptions& options_;
    const PackedForest& forest_;
    AllowedFeatures allowed_;
    std::size_t stride_;
    std::size_t block_rows_;
    const double factor_ = rows_.targets.are_classes()          ? (std::is_same_v<Score, SquareScore> ? 2.0 : 1.0)
                           : std::is_same_v<Score, SquareScore> ? targets_.unit * targets_.unit
                                                                : targets_.unit;
    std::vector<Coarse> coarse_;
    std::vector<FeatureIndex> nominal_;
    std::vector<std::vector<double>> edges_;  // per feature: where coarse cells begin; the last one ends

    const Bag* bag_ = nullptr;
    Sapling tree_;
    Stream random_;
    double total_weight_ = 0.0;
    bool exact_ = true;
    bool varies_ = false;
    const Code* base_ = nullptr;
    std::vector<Job> stack_;
    Buffer<Record> records_;
    Buffer<Record> twin_;
    std::vector<std::uint32_t> out_;
    std::vector<std::uint32_t> out_twin_;
    Buffer<Code> block_;
    std::vector<RowIndex> block_place_;
    Buffer<Sums> cells_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> keys_;
    std::vector<std::uint64_t> wide_keys_;
    std::vector<Code> codes_;
};

template <class Score, bool kRandom>
std::unique_ptr<SumTreeGrower> make(const ForestRows& rows, const WholeTargets& targets,
                                    const ForestTreeOptions& options, const PackedForest& forest) {
    if (options.tree.min_rows_leaf > 1 || options.tree.min_weight_leaf > 0.0)
        return std::make_unique<Grower<Score, kRandom, true>>(rows, targets, options, forest);
    return std::make_unique<Grower<Score, kRandom, false>>(rows, targets, options, forest);
}

template <class Score>
std::unique_ptr<SumTreeGrower> make(const ForestRows& rows, const WholeTargets& targets,
                                    const ForestTreeOptions& options, const PackedForest& forest) {
    return options.tree.random_splits ? make<Score, true>(rows, targets, options, forest)
                                      : make<Score, false>(rows, targets, options, forest);
}

}  // namespace

bool sums_up(const criterion::Targets& targets, const CriterionOptions& options) {
    return targets.need_one_sum() && options.criterion != Criterion::absolute_error && options.max_leaves == 0 &&
           options.monotone.empty();
}

// Sums of n_draws whole numbers below 2^bits are exact if they stay below 2^53.
WholeTargets whole_targets(const ForestRows& rows, Criterion criterion, std::size_t n_draws) {
    WholeTargets whole;
    whole.value = rows.targets.value;
    if (rows.targets.are_classes()) return whole;
    const auto [low, high] = std::ranges::minmax(rows.targets.value);
    const bool counts = criterion == Criterion::poisson;
    whole.centre = counts ? 0.0 : low / 2 + high / 2;
    const double reach = counts ? high : high / 2 - low / 2;
    const int bits = std::min(36, 52 - static_cast<int>(std::bit_width(n_draws)));
    whole.unit = reach > 0.0 ? reach / std::exp2(bits) : 1.0;
    for (double& value : whole.value) value = std::nearbyint((value - whole.centre) / whole.unit);
    return whole;
}

std::unique_ptr<SumTreeGrower> make_sum_tree_grower(const ForestRows& rows, const WholeTargets& targets,
                                                    const ForestTreeOptions& options, const PackedForest& forest) {
    switch (options.tree.criterion) {
        case Criterion::entropy: return make<EntropyScore>(rows, targets, options, forest);
        case Criterion::poisson: return make<PoissonScore>(rows, targets, options, forest);
        default: return make<SquareScore>(rows, targets, options, forest);
    }
}

}  // namespace coterie
