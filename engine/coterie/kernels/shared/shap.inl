// kernels/shared/shap.inl: the sums of SHAP values over one tree and one row, compiled once per instruction set.
//
// Points are lanes that never meet before the caller adds them up, so vectors of any width give the same bits. Included
// inside a namespace by generic/ and avx2/.

// What the product over the features of a path, seen from each point, grows by at a node.
template <std::size_t kPoints>
void shap_ratio(const ShapPoints& points, double share, double before, std::size_t way, double* out) {
    for (std::size_t q = 0; q < kPoints; ++q) {
        const double at = points.at[q];
        const double then = before * (1.0 - at) + at;
        out[q] = way == 0   ? (share * (1.0 - at) + at) / then
                 : way == 1 ? share * (1.0 - at) / then
                            : (before > 0.0 ? share / before : 0.0);
    }
}

// What the answers below a node count for its feature: what they would count if this were the last split on it, less
// what they counted at the split before.
template <std::size_t kPoints>
void shap_factor(const ShapPoints& points, double share, double before, std::size_t way, double* out) {
    for (std::size_t q = 0; q < kPoints; ++q) {
        const double at = points.at[q];
        const double then = (1.0 - before) / (before * (1.0 - at) + at);
        const double now = way == 0 ? (1.0 - share) / (share * (1.0 - at) + at) : -1.0 / (1.0 - at);
        out[q] = way == 2 ? 0.0 : points.weight[q] * (now - then);
    }
}

template <std::size_t kPoints>
void fill_shap_tables(const ShapTree& tree, double* ratio, double* factor) {
    for (std::size_t node = 1; node < tree.n_nodes; ++node)
        for (std::size_t way = 0; way < 3; ++way) {
            const std::size_t place = (3 * node + way) * kPoints;
            shap_ratio<kPoints>(tree.points, tree.share[node], tree.share_before[node], way, ratio + place);
            shap_factor<kPoints>(tree.points, tree.share[node], tree.share_before[node], way, factor + place);
        }
}

void shap_tables(const ShapTree& tree, double* ratio, double* factor) {
    switch (tree.points.n) {
        case 4: return fill_shap_tables<4>(tree, ratio, factor);
        case 8: return fill_shap_tables<8>(tree, ratio, factor);
        case 16: return fill_shap_tables<16>(tree, ratio, factor);
        default: return fill_shap_tables<32>(tree, ratio, factor);
    }
}

// Small trees have everything in tables.
template <std::size_t kPoints>
struct ShapTables {
    const ShapTree& tree;

    const double* ratio(std::size_t node, std::size_t way, double*) const {
        return tree.ratio + (3 * node + way) * kPoints;
    }
    const double* factor(std::size_t node, std::size_t way, double*) const {
        return tree.factor + (3 * node + way) * kPoints;
    }
};

// For large ones that would be too much to read.
template <std::size_t kPoints>
struct ShapOnTheWay {
    const ShapTree& tree;

    const double* ratio(std::size_t node, std::size_t way, double* out) const {
        shap_ratio<kPoints>(tree.points, tree.share[node], tree.share_before[node], way, out);
        return out;
    }
    const double* factor(std::size_t node, std::size_t way, double* out) const {
        shap_factor<kPoints>(tree.points, tree.share[node], tree.share_before[node], way, out);
        return out;
    }
};

// Four points at a time, in whatever registers there are.
#if __has_cpp_attribute(gnu::vector_size)
using Four [[gnu::vector_size(32)]] = double;
#else
struct Four {
    double at[4];

    friend Four operator+(Four a, const Four& b) {
        for (std::size_t k = 0; k < 4; ++k) a.at[k] += b.at[k];
        return a;
    }
    friend Four operator*(Four a, const Four& b) {
        for (std::size_t k = 0; k < 4; ++k) a.at[k] *= b.at[k];
        return a;
    }
    friend Four operator*(Four a, double b) { return a * Four{{b, b, b, b}}; }
    Four& operator*=(const Four& b) { return *this = *this * b; }
};
#endif

inline void load_four(Four& four, const double* from) { std::memcpy(&four, from, sizeof(four)); }
inline void store_four(double* to, const Four& four) { std::memcpy(to, &four, sizeof(four)); }

// The products of all paths; and, if `below` is not null, what the leaves answer by way of them.
template <std::size_t kPoints>
void fill_products(const ShapTree& tree, const auto& tables, const std::uint8_t* ways, double* product, double* below) {
    double made[kPoints];
    for (std::size_t q = 0; q < kPoints; ++q) product[q] = 1.0;
    for (std::size_t q = 0; q < kPoints && below != nullptr; ++q) below[q] = tree.value[0];
    for (std::size_t node = 1; node < tree.n_nodes; ++node) {
        const double* const from = product + tree.parent[node] * kPoints;
        const double* const ratio = tables.ratio(node, ways[node], made);
        const double value = tree.value[node * tree.n_outputs];  // zero inside the tree
        for (std::size_t q = 0; q < kPoints; q += 4) {
            Four grown;
            Four times;
            load_four(grown, from + q);
            load_four(times, ratio + q);
            grown *= times;
            store_four(product + node * kPoints + q, grown);
            if (below != nullptr) store_four(below + node * kPoints + q, grown * value);
        }
    }
}

template <std::size_t kPoints>
void add_shap(const ShapTree& tree, const auto& tables, const std::uint8_t* ways, double* scratch, double* sums) {
    double* const product = scratch;
    double* const below = scratch + tree.n_nodes * kPoints;
    double made[kPoints];
    fill_products<kPoints>(tree, tables, ways, product, below);
    for (std::size_t output = 0; output < tree.n_outputs; ++output) {
        for (std::size_t node = 0; node < tree.n_nodes && output > 0; ++node) {
            const double value = tree.value[node * tree.n_outputs + output];
            for (std::size_t q = 0; q < kPoints; ++q) below[node * kPoints + q] = value * product[node * kPoints + q];
        }
        double* const own = sums + output * tree.n_features * kPoints;
        for (std::size_t node = tree.n_nodes - 1; node > 0; --node) {
            const double* const factor = tables.factor(node, ways[node], made);
            double* const sum = own + tree.feature[node] * kPoints;
            double* const up = below + tree.parent[node] * kPoints;
            for (std::size_t q = 0; q < kPoints; q += 4) {
                Four here;
                Four times;
                Four more;
                load_four(here, below + node * kPoints + q);
                load_four(more, up + q);
                store_four(up + q, more + here);
                load_four(times, factor + q);
                load_four(more, sum + q);
                store_four(sum + q, more + here * times);
            }
        }
    }
}

template <std::size_t kPoints>
void add_shap(const ShapTree& tree, const std::uint8_t* ways, double* scratch, double* sums) {
    if (tree.ratio != nullptr)
        add_shap<kPoints>(tree, ShapTables<kPoints>{tree}, ways, scratch, sums);
    else
        add_shap<kPoints>(tree, ShapOnTheWay<kPoints>{tree}, ways, scratch, sums);
}

void shap_row(const ShapTree& tree, const std::uint8_t* ways, double* scratch, double* sums) {
    switch (tree.points.n) {
        case 4: return add_shap<4>(tree, ways, scratch, sums);
        case 8: return add_shap<8>(tree, ways, scratch, sums);
        case 16: return add_shap<16>(tree, ways, scratch, sums);
        default: return add_shap<32>(tree, ways, scratch, sums);
    }
}

// Leaf by leaf: of each feature on its path, what it does to the product of the others; then all pairs.
template <std::size_t kPoints>
void add_shap_interactions(const ShapTree& tree, const std::uint8_t* ways, double* scratch, double* sums) {
    double* const product = scratch;
    double* const parts = scratch + tree.n_nodes * kPoints;
    if (tree.ratio != nullptr)
        fill_products<kPoints>(tree, ShapTables<kPoints>{tree}, ways, product, nullptr);
    else
        fill_products<kPoints>(tree, ShapOnTheWay<kPoints>{tree}, ways, product, nullptr);
    for (std::size_t leaf = 0; leaf < tree.n_leaves; ++leaf) {
        const std::uint32_t* const path = tree.path + tree.first_of_path[leaf];
        const std::size_t n = tree.first_of_path[leaf + 1] - tree.first_of_path[leaf];
        for (std::size_t i = 0; i < n; ++i) {
            const double share = tree.share[path[i]];
            const bool goes = ways[path[i]] == 0;
            for (std::size_t q = 0; q < kPoints; ++q) {
                const double at = tree.points.at[q];
                parts[i * kPoints + q] = goes          ? (1.0 - share) / (share * (1.0 - at) + at)
                                         : share > 0.0 ? -1.0 / (1.0 - at)
                                                       : 0.0;
            }
        }
        const std::uint32_t node = tree.leaf[leaf];
        for (std::size_t i = 1; i < n; ++i) {
            double mine[kPoints];
            for (std::size_t q = 0; q < kPoints; ++q)
                mine[q] = tree.points.weight[q] * product[node * kPoints + q] * parts[i * kPoints + q];
            for (std::size_t j = 0; j < i; ++j) {
                double lanes[4] = {0.0, 0.0, 0.0, 0.0};
                for (std::size_t q = 0; q < kPoints; q += 4)
                    for (std::size_t k = 0; k < 4; ++k) lanes[k] += mine[q + k] * parts[j * kPoints + q + k];
                const double pair = 0.5 * ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
                const std::size_t a = tree.feature[path[i]];
                const std::size_t b = tree.feature[path[j]];
                const std::size_t place = (a > b ? a : b) * tree.n_features + (a > b ? b : a);
                for (std::size_t output = 0; output < tree.n_outputs; ++output)
                    sums[output * tree.n_features * tree.n_features + place] +=
                        pair * tree.value[node * tree.n_outputs + output];
            }
        }
    }
}

void shap_interactions(const ShapTree& tree, const std::uint8_t* ways, double* scratch, double* sums) {
    switch (tree.points.n) {
        case 4: return add_shap_interactions<4>(tree, ways, scratch, sums);
        case 8: return add_shap_interactions<8>(tree, ways, scratch, sums);
        case 16: return add_shap_interactions<16>(tree, ways, scratch, sums);
        default: return add_shap_interactions<32>(tree, ways, scratch, sums);
    }
}
