#include "coterie/predict/walk.hpp"

#include "coterie/predict/compiled_forest.hpp"

namespace coterie {

void add_scores(const Forest& forest, const TableView& table, std::span<double> scores, int n_threads, StopRequest stop,
                TreeRange trees) {
    CompiledForest::of(forest)->add_scores(table, scores, trees, n_threads, stop);
}

void find_leaves(const Forest& forest, const TableView& table, std::span<std::uint32_t> leaves, int n_threads,
                 StopRequest stop) {
    CompiledForest::of(forest)->find_leaves(table, leaves, n_threads, stop);
}

}  // namespace coterie
