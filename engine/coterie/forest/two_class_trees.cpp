#include "coterie/forest/set_grower.hpp"
#include "coterie/forest/sum_grower.hpp"

namespace coterie::sums {
namespace {

template <class Score>
std::unique_ptr<SumTreeGrower> make_with(const Task& task) {
    if (task.whole_weights && task.options.tree.random_splits)
        return std::make_unique<SetGrower<Score>>(task.rows, task.options, task.forest, task.columns);
    return task.whole_weights ? make<OneSum, Score, ClassStatistic, false>(task)
                              : make<OneSum, Score, PairStatistic>(task);
}

}  // namespace

std::unique_ptr<SumTreeGrower> make_for_two_classes(const Task& task) {
    return task.options.tree.criterion == Criterion::entropy ? make_with<EntropyScore>(task)
                                                             : make_with<SquareScore>(task);
}

}  // namespace coterie::sums
