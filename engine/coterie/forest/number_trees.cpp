#include "coterie/forest/sum_grower.hpp"

namespace coterie::sums {

std::unique_ptr<SumTreeGrower> make_for_numbers(const Task& task) {
    if (task.options.tree.criterion == Criterion::poisson) return make<OneSum, PoissonScore, PairStatistic>(task);
    return task.whole_weights ? make<OneSum, SquareScore, NumberStatistic>(task)
                              : make<OneSum, SquareScore, PairStatistic>(task);
}

}  // namespace coterie::sums
