// tests/main.cpp: runs the stories of the files named on the command line, or all of them.
#include <cstdio>
#include <span>

#include "check.hpp"

namespace {

using coterie::tests::Test;

bool is_wanted(const Test& test, std::span<char*> files) {
    for (const char* file : files)
        if (test.file().ends_with(file)) return true;
    return files.empty();
}

/// What went wrong, or nothing.
std::string failure_of(const Test& test) {
    try {
        test.run();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

}  // namespace

int main(int n_arguments, char** arguments) {
    const std::span<char*> files(arguments + 1, static_cast<std::size_t>(n_arguments - 1));
    int n_run = 0;
    int n_failed = 0;
    for (const Test* test : Test::all()) {
        if (!is_wanted(*test, files)) continue;
        ++n_run;
        const std::string failure = failure_of(*test);
        std::printf("%s %s\n", failure.empty() ? "ok    " : "FAILED", std::string(test->story()).c_str());
        if (!failure.empty()) std::printf("       %s\n", failure.c_str());
        std::fflush(stdout);
        n_failed += !failure.empty();
    }
    std::printf("%d of %d stories hold.\n", n_run - n_failed, n_run);
    return n_run == 0 || n_failed > 0;
}
