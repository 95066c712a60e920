#include "coterie/forest/sum_grower.hpp"

namespace coterie::sums {

std::unique_ptr<SumTreeGrower> make_for_numbers(const Task& task) {
    if (task.options.tree.criterion == Criterion::poisson) return make<OneSum, PoissonScore, PairPay>(task);
    return task.whole_weights ? make<OneSum, SquareScore, NumberPay>(task) : make<OneSum, SquareScore, PairPay>(task);
}

}  // namespace coterie::sums
