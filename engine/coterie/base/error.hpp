// base/error.hpp: the two ways in which the engine stops.
#pragma once

#include <stdexcept>
#include <string>

namespace coterie {

/// The caller gave something the engine cannot work with; the message is a full sentence.
struct InvalidInput : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// The caller requested a stop (Ctrl-C). Nothing is left half done.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("The work was interrupted.") {}
};

inline void require(bool holds, const std::string& sentence) {
    if (!holds) throw InvalidInput(sentence);
}

/// Costs nothing where it holds: in loops.
inline void require(bool holds, const char* sentence) {
    if (!holds) throw InvalidInput(sentence);
}

}  // namespace coterie
