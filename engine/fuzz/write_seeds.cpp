// Writes the first inputs of the fuzzers into a folder for each: write_seeds <corpus>
#include <filesystem>
#include <fstream>
#include <string>

#include "coterie/storage/coded_numbers.hpp"
#include "tree_arguments.hpp"
#include "trees_by_hand.hpp"

namespace {

using namespace coterie;

void write(const std::filesystem::path& path, const fuzz::ByteWriter& bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.bytes().data()), static_cast<std::streamsize>(bytes.bytes().size()));
}

// Items of which the number i is number_at(i), modulo 2^32.
template <class NumberAt>
void write_numbers(const std::filesystem::path& path, NumberAt number_at) {
    std::vector<std::uint32_t> items(300);
    for (std::uint32_t i = 0; i < items.size(); ++i) items[i] = number_at(i);
    const auto coded = code_numbers(std::as_bytes(std::span(items)), sizeof(items[0]));
    fuzz::ByteWriter bytes;
    bytes.number(std::uint8_t{2});  // two to the power of it is the size of an item
    bytes.number(static_cast<std::uint16_t>(items.size()));
    for (const std::uint8_t byte : coded) bytes.number(byte);
    write(path, bytes);
}

void write_trees(const std::filesystem::path& path, std::vector<Tree> trees) {
    std::vector<std::shared_ptr<const Tree>> shared;
    for (Tree& tree : trees) shared.push_back(std::make_shared<Tree>(std::move(tree)));
    write(path, fuzz::TreesArguments{.n_features = 4, .streams = *streams_of(Trees(shared))}.write());
}

void write_nodes(const std::filesystem::path& path, bool depth_first) {
    fuzz::NodesArguments all{.n_levels = {0, 4},
                             .n_nodes = {5, 1},
                             .streams = {.is_split = {1, 1, 0, 0, 0, 0},
                                         .pair = {},
                                         .feature = {0, 1},
                                         .missing_right = {1, 0},
                                         .code = {2, 3},
                                         .share = {7, 65'535},
                                         .leaf_value = {1, 0, 1, 0}}};
    if (!depth_first) all.streams.pair = {0, 1};
    write(path, all.write());
}

}  // namespace

int main(int n_arguments, char** arguments) {
    if (n_arguments != 2) return 2;
    const std::filesystem::path corpus = arguments[1];
    write_numbers(corpus / "decode_numbers" / "dictionary", [](std::uint32_t i) { return i % 3 * 1'000'000'007u; });
    write_numbers(corpus / "decode_numbers" / "frame_of_reference", [](std::uint32_t i) { return i * 7919u % 1000u; });
    write_numbers(corpus / "decode_numbers" / "delta", [](std::uint32_t i) { return 100'000u * i + i % 7; });
    write_trees(corpus / "trees_of" / "leaf", {tests::leaf_only(1.5)});
    write_trees(corpus / "trees_of" / "splits", {tests::two_splits(), tests::leaf_only(2.0), tests::two_splits()});
    write_trees(corpus / "trees_of" / "lines", {tests::two_splits_and_a_line()});
    write_trees(corpus / "trees_of" / "levels", {tests::one_set()});
    write_nodes(corpus / "nodes_of" / "depth_first", true);
    write_nodes(corpus / "nodes_of" / "pairs", false);
    return 0;
}
