#include "coterie/forest/sum_grower.hpp"

namespace coterie::sums {
namespace {

template <class Score>
std::unique_ptr<SumTreeGrower> make_with(const Task& task) {
    return task.whole_weights ? make<OneSum, Score, ClassPay>(task) : make<OneSum, Score, PairPay>(task);
}

}  // namespace

std::unique_ptr<SumTreeGrower> make_for_two_classes(const Task& task) {
    return task.options.tree.criterion == Criterion::entropy ? make_with<EntropyScore>(task)
                                                             : make_with<SquareScore>(task);
}

}  // namespace coterie::sums
