// tests/main.cpp: runs tests and says which of them hold.
//
//   engine_tests [--filter text] [--junit file] [--list] [base/test_array.cpp ...]
//
// Without files, those of all files; with --filter, those whose name contains the text; --list names them and runs
// none.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>

#include "check.hpp"

namespace {

using coterie::tests::Test;

constexpr const char* kUsage =
    "usage: engine_tests [--filter text] [--junit file] [--list] [base/test_array.cpp ...]\n";

struct Options {
    std::vector<std::string_view> files;
    std::string_view filter;
    std::string junit;
    bool list = false;
};

/// Nothing if they cannot be understood.
std::optional<Options> options_of(int n_arguments, char** arguments) {
    Options options;
    for (int i = 1; i < n_arguments; ++i) {
        const std::string_view argument = arguments[i];
        const bool has_value = i + 1 < n_arguments;
        if (argument == "--list")
            options.list = true;
        else if (argument == "--filter" && has_value)
            options.filter = arguments[++i];
        else if (argument == "--junit" && has_value)
            options.junit = arguments[++i];
        else if (argument.starts_with("-"))
            return std::nullopt;
        else
            options.files.push_back(argument);
    }
    return options;
}

bool is_wanted(const Test& test, const Options& options) {
    if (test.name().find(options.filter) == std::string_view::npos) return false;
    for (const std::string_view file : options.files)
        if (test.file().ends_with(file)) return true;
    return options.files.empty();
}

struct Outcome {
    const Test* test;
    std::string failure;  // empty: it holds
    double seconds;
};

Outcome run(const Test& test) {
    const auto start = std::chrono::steady_clock::now();
    std::string failure;
    try {
        test.run();
    } catch (const std::exception& error) {
        failure = error.what();
        if (failure.empty()) failure = "an exception without a message";
    }
    return {&test, failure, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

void report(const Outcome& outcome) {
    std::printf("%s %s\n", outcome.failure.empty() ? "ok    " : "FAILED", std::string(outcome.test->name()).c_str());
    if (!outcome.failure.empty()) std::printf("       %s\n", outcome.failure.c_str());
    std::fflush(stdout);
}

std::string escaped(std::string_view text) {
    std::string xml;
    for (const char letter : text) switch (letter) {
            case '&': xml += "&amp;"; break;
            case '<': xml += "&lt;"; break;
            case '>': xml += "&gt;"; break;
            case '"': xml += "&quot;"; break;
            default: xml += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
        }
    return xml;
}

/// base/test_array.cpp of .../engine/tests/base/test_array.cpp.
std::string_view file_in_tests(const Test& test) {
    const std::string_view folder = "/tests/";
    const std::size_t at = test.file().rfind(folder);
    return at == std::string_view::npos ? test.file() : test.file().substr(at + folder.size());
}

bool write_junit(const std::string& path, const std::vector<Outcome>& outcomes, std::size_t n_failed) {
    std::ofstream out(path);
    out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"engine_tests\" tests=\"" << outcomes.size()
        << "\" failures=\"" << n_failed << "\">\n";
    for (const Outcome& outcome : outcomes) {
        out << "  <testcase classname=\"" << escaped(file_in_tests(*outcome.test)) << "\" name=\""
            << escaped(outcome.test->name()) << "\" time=\"" << outcome.seconds << "\"";
        if (outcome.failure.empty())
            out << "/>\n";
        else
            out << "><failure message=\"" << escaped(outcome.failure) << "\"/></testcase>\n";
    }
    out << "</testsuite>\n";
    out.close();
    return out.good();
}

}  // namespace

int main(int n_arguments, char** arguments) {
    const std::optional<Options> options = options_of(n_arguments, arguments);
    if (!options) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    std::vector<Outcome> outcomes;
    std::size_t n_failed = 0;
    std::size_t n_listed = 0;
    for (const Test* test : Test::all()) {
        if (!is_wanted(*test, *options)) continue;
        if (options->list) {
            ++n_listed;
            std::printf("%s: %s\n", std::string(file_in_tests(*test)).c_str(), std::string(test->name()).c_str());
            continue;
        }
        report(outcomes.emplace_back(run(*test)));
        n_failed += !outcomes.back().failure.empty();
    }
    if (options->list) return n_listed == 0;
    std::printf("%zu of %zu tests passed.\n", outcomes.size() - n_failed, outcomes.size());
    if (!options->junit.empty() && !write_junit(options->junit, outcomes, n_failed)) {
        std::fprintf(stderr, "The file %s could not be written.\n", options->junit.c_str());
        return 2;
    }
    return outcomes.empty() || n_failed > 0;
}
