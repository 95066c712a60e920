// Bags: how many rows they hold, and that weights and repeated rows are the same thing.
#include <numeric>
#include <set>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/forest/bag.hpp"

namespace coterie::tests {
namespace {

using Counts = std::vector<std::uint16_t>;

struct Line {
    std::size_t n_places = 100;
    std::vector<double> weight = {};
    std::vector<std::size_t> stratum_end = {};
    double share = 1.0;
    std::size_t most_draws = 0;

    BagDrawer drawer(BagKind kind, std::uint64_t seed = 5) const {
        return BagDrawer(kind, n_places, weight, stratum_end, share, most_draws, seed);
    }
};

Counts drawn(const BagDrawer& drawer, std::size_t n_places, std::uint64_t tree) {
    Counts counts(n_places, 9);
    drawer.draw(tree, counts);
    return counts;
}

std::size_t total(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), std::size_t{0}); }

const Test sizes("the counts of a bootstrap add up to its draws", [] {
    for (const std::size_t n : {1u, 2u, 7u, 100u, 1000u})
        for (const double share : {1.0, 0.5, 0.013}) {
            const Line line{.n_places = n, .share = share};
            const BagDrawer drawer = line.drawer(BagKind::bootstrap);
            const double expected = std::max(1.0, std::round(share * static_cast<double>(n)));
            check_equal(drawer.n_draws(), static_cast<std::size_t>(expected));
            for (std::uint64_t tree = 0; tree < 5; ++tree) check_equal(total(drawn(drawer, n, tree)), drawer.n_draws());
        }
    const BagDrawer few = Line{.most_draws = 12}.drawer(BagKind::bootstrap);
    check_equal(total(drawn(few, 100, 3)), 12u);
});

const Test chance("a bootstrap leaves out about a third of the rows, and each row about as often", [] {
    const BagDrawer drawer = Line{.n_places = 200}.drawer(BagKind::bootstrap);
    std::vector<int> times_out(200, 0);
    int n_out = 0;
    for (std::uint64_t tree = 0; tree < 500; ++tree) {
        const Counts counts = drawn(drawer, 200, tree);
        for (std::size_t place = 0; place < 200; ++place) {
            times_out[place] += counts[place] == 0;
            n_out += counts[place] == 0;
        }
    }
    check_near(n_out / 100'000.0, std::pow(1 - 1 / 200.0, 200), 0.01);
    for (const int times : times_out) check_near(times / 500.0, 0.367, 0.11);  // five deviations
});

const Test weights("a row of weight 3 is drawn as three equal rows are together", [] {
    const Line heavy{.n_places = 6, .weight = {1, 3, 1, 2, 1, 64}};
    const Line repeated{.n_places = 72};
    const std::vector<std::size_t> first{0, 1, 4, 5, 7, 8, 72};
    for (const BagKind kind : {BagKind::all, BagKind::bootstrap, BagKind::subsample, BagKind::partition})
        for (const double share : {1.0, 0.4}) {
            Line some = heavy;
            Line others = repeated;
            some.share = others.share = share;
            const BagDrawer drawer = some.drawer(kind);
            check_equal(drawer.n_slots(), 72u);
            for (std::uint64_t tree = 0; tree < 20; ++tree) {
                const Counts counts = drawn(drawer, 6, tree);
                const Counts each = drawn(others.drawer(kind), 72, tree);
                for (std::size_t place = 0; place < 6; ++place)
                    check_equal(counts[place],
                                std::accumulate(each.begin() + static_cast<std::ptrdiff_t>(first[place]),
                                                each.begin() + static_cast<std::ptrdiff_t>(first[place + 1]), 0));
            }
        }
    for (std::size_t place = 0; place < 6; ++place) check_equal(heavy.drawer(BagKind::all).unit(place), 1.0);
});

const Test units("a draw weighs the row's weight over its copies, and copies are limited", [] {
    const BagDrawer drawer = Line{.n_places = 3, .weight = {2.5, 0.25, 640}}.drawer(BagKind::all);
    check_equal(drawn(drawer, 3, 0), Counts{3, 1, 64});
    check_near(drawer.unit(0), 2.5 / 3, 1e-15);
    check_equal(drawer.unit(1), 0.25);
    check_equal(drawer.unit(2), 10.0);
});

const Test once("a subsample draws so many rows, each at most once", [] {
    for (const std::size_t n : {1u, 3u, 17u, 64u, 100u, 1025u}) {
        const Line line{.n_places = n, .share = 0.632};
        const BagDrawer drawer = line.drawer(BagKind::subsample);
        for (std::uint64_t tree = 0; tree < 20; ++tree) {
            const Counts counts = drawn(drawer, n, tree);
            check_equal(total(counts), drawer.n_draws());
            for (const std::uint16_t count : counts) check(count <= 1, "no row is drawn twice");
        }
    }
});

const Test parts("the parts of one round overlap nowhere and hold every row; the next round has others", [] {
    const BagDrawer drawer = Line{.n_places = 103, .most_draws = 25}.drawer(BagKind::partition);
    constexpr std::uint64_t kParts = 4;
    std::set<Counts> seen;
    for (std::uint64_t round = 0; round < 6; ++round) {
        Counts sum(103, 0);
        for (std::uint64_t part = 0; part < kParts; ++part) {
            const Counts counts = drawn(drawer, 103, round * kParts + part);
            check(total(counts) == 25 || total(counts) == 26, "parts are about equal");
            for (std::size_t place = 0; place < 103; ++place)
                sum[place] = static_cast<std::uint16_t>(sum[place] + counts[place]);
            seen.insert(counts);
        }
        check_equal(sum, Counts(103, 1));
    }
    check_equal(seen.size(), 6 * kParts);
});

const Test strata("a balanced bag draws as often from every class, and not at all from one without rows", [] {
    const Line line{.n_places = 100, .stratum_end = {5, 5, 30, 100}, .most_draws = 11};
    for (std::uint64_t tree = 0; tree < 20; ++tree) {
        const Counts counts = drawn(line.drawer(BagKind::balanced), 100, tree);
        check_equal(std::accumulate(counts.begin(), counts.begin() + 5, 0), 11);
        check_equal(std::accumulate(counts.begin() + 5, counts.begin() + 30, 0), 11);
        check_equal(std::accumulate(counts.begin() + 30, counts.end(), 0), 11);
    }
    const Line heavy{.n_places = 4, .weight = {1, 5, 2, 2}, .stratum_end = {2, 4}};
    const Counts counts = drawn(heavy.drawer(BagKind::balanced), 4, 0);
    check_equal(counts[0] + counts[1], 10);
    check_equal(counts[2] + counts[3], 10);
});

const Test again("the same tree draws the same rows again; another tree or seed draws others", [] {
    const Line line{.stratum_end = {40, 100}, .share = 0.5};
    for (const BagKind kind : {BagKind::bootstrap, BagKind::subsample, BagKind::balanced, BagKind::partition}) {
        const BagDrawer drawer = line.drawer(kind);
        const Counts first = drawn(drawer, 100, 8);
        check(drawn(drawer, 100, 9) != first, "another tree has another bag");
        check_equal(drawn(line.drawer(kind), 100, 8), first);
        check(drawn(line.drawer(kind, 6), 100, 8) != first, "another seed gives another bag");
    }
});

const Test refused("a bag without rows, an impossible share and lengths that differ are refused", [] {
    check_throws<InvalidInput>([] { Line{.n_places = 0}.drawer(BagKind::all); }, "at least one row");
    for (const double share : {0.0, 1.5, -0.1, std::nan("")})
        check_throws<InvalidInput>([&] { Line{.share = share}.drawer(BagKind::bootstrap); }, "share of rows");
    check_throws<InvalidInput>([] { Line{.n_places = 3, .weight = {1, 1}}.drawer(BagKind::all); }, "one weight");
    check_throws<InvalidInput>([] { drawn(Line{}.drawer(BagKind::all), 99, 0); }, "one count");
});

}  // namespace
}  // namespace coterie::tests
