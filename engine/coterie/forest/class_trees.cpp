#include "coterie/forest/sum_grower.hpp"

namespace coterie::sums {
namespace {

template <class Score>
std::unique_ptr<SumTreeGrower> make_with(const Task& task) {
    return task.whole_weights ? make<SumPerClass, Score, std::int32_t>(task) : make<SumPerClass, Score, double>(task);
}

}  // namespace

std::unique_ptr<SumTreeGrower> make_for_classes(const Task& task) {
    return task.options.tree.criterion == Criterion::entropy ? make_with<ClassEntropy>(task)
                                                             : make_with<ClassSquares>(task);
}

}  // namespace coterie::sums
