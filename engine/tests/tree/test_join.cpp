// Trees that share their splits become one tree with the values of all.
#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/tree/join.hpp"
#include "trees_by_hand.hpp"

namespace coterie::tests {
namespace {

std::shared_ptr<const Tree> times(double factor) { return std::make_shared<Tree>(scaled(two_splits(), factor)); }

const Test values("each tree keeps its values, in the order of the trees, and gains are added up", [] {
    const Tree one = two_splits();
    const std::shared_ptr<const Tree> all[] = {times(1), times(-2), times(0.5)};
    const Tree whole = joined(all);
    validate(whole, 2);
    check_equal(whole.n_outputs, 3u);
    check_equal(whole.feature, one.feature);
    for (NodeIndex node = 0; node < one.n_nodes(); ++node) {
        check_equal(whole.values_of(node)[0], one.value[node]);
        check_equal(whole.values_of(node)[1], -2 * one.value[node]);
        check_equal(whole.values_of(node)[2], 0.5 * one.value[node]);
        check_equal(whole.gain[node], 3 * one.gain[node]);
        check_equal(whole.cover[node], one.cover[node]);
    }
});

const Test alone("one tree stays what it is", [] {
    const std::shared_ptr<const Tree> all[] = {times(1)};
    check_equal(joined(all).value, two_splits().value);
});

const Test refused("other splits, lines and nothing at all are refused", [] {
    Tree other = two_splits();
    other.threshold[0] += 1;
    const std::shared_ptr<const Tree> different[] = {times(1), std::make_shared<Tree>(other)};
    check_throws<InvalidInput>([&] { joined(different); }, "same splits");
    const auto line = std::make_shared<const Tree>(two_splits_and_a_line());
    const std::shared_ptr<const Tree> lines[] = {line, line};
    check_throws<InvalidInput>([&] { joined(lines); }, "lines");
    check_throws<InvalidInput>([] { joined({}); }, "no tree");
});

}  // namespace
}  // namespace coterie::tests
