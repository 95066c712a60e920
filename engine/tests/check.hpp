// tests/check.hpp: how the engine's tests are written.
//
// A test is a name, which says what holds, and a function. A check that fails ends its test and says where, what was
// received and what was expected; the other tests still run.
#pragma once

#include <cmath>
#include <concepts>
#include <exception>
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coterie::tests {

#if defined(__cpp_lib_source_location)
using Location = std::source_location;
#else
/// The same for Clang 14, which does not have it with libstdc++.
class Location {
public:
    static constexpr Location current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
        return Location(file, line);
    }
    constexpr const char* file_name() const { return file_; }
    constexpr unsigned line() const { return line_; }

private:
    constexpr Location(const char* file, unsigned line) : file_(file), line_(line) {}

    const char* file_;
    unsigned line_;
};
#endif

/// Making one at namespace scope is enough to have it run.
class Test {
public:
    Test(std::string_view name, void (*body)(), Location where = Location::current())
        : name_(name), file_(path_of(where)), body_(body) {
        all().push_back(this);
    }

    std::string_view name() const { return name_; }
    std::string_view file() const { return file_; }  // its path, with slashes on every system
    void run() const { body_(); }

    static std::vector<const Test*>& all() {
        static std::vector<const Test*> tests;
        return tests;
    }

private:
    static std::string path_of(Location where) {
        std::string path = where.file_name();
        for (char& letter : path)
            if (letter == '\\') letter = '/';
        return path;
    }

    std::string name_;
    std::string file_;
    void (*body_)();
};

struct CheckFailed : std::runtime_error {
    CheckFailed(const std::string& what, Location where)
        : std::runtime_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " + what) {}
};

template <class T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };

template <class T>
std::string shown(const T& value) {
    std::ostringstream out;
    out.precision(17);
    if constexpr (std::same_as<T, bool>) {
        out << (value ? "true" : "false");
    } else if constexpr (std::integral<T>) {
        out << +value;  // a small integer is a number here, not a letter
    } else if constexpr (Printable<T>) {
        out << value;
    } else {
        out << "(";
        const char* comma = "";
        for (const auto& item : value) out << std::exchange(comma, ", ") << shown(item);
        out << ")";
    }
    return out.str();
}

inline std::string shown(const std::string& text) { return "\"" + text + "\""; }

inline void check(bool holds, std::string_view what, Location where = Location::current()) {
    if (!holds) throw CheckFailed("expected that " + std::string(what), where);
}

template <class A, class B>
void check_equal(const A& received, const B& expected, Location where = Location::current()) {
    if (!(received == expected))
        throw CheckFailed("received " + shown(received) + ", expected " + shown(expected), where);
}

inline void check_near(double received, double expected, double tolerance, Location where = Location::current()) {
    if (!(std::abs(received - expected) <= tolerance))
        throw CheckFailed(
            "received " + shown(received) + ", expected " + shown(expected) + " within " + shown(tolerance), where);
}

/// The action must throw exactly this kind of error, and its sentence must contain the phrase.
template <class Error, class Action>
void check_throws(Action&& action, std::string_view phrase, Location where = Location::current()) {
    try {
        action();
    } catch (const Error& error) {
        if (std::string_view(error.what()).find(phrase) == std::string_view::npos)
            throw CheckFailed("the error says " + shown(std::string(error.what())) + ", expected it to mention " +
                                  shown(std::string(phrase)),
                              where);
        return;
    }
    throw CheckFailed("expected an error that mentions " + shown(std::string(phrase)) + ", and there was none", where);
}

}  // namespace coterie::tests
