// base/array.hpp: an array that is our own, or that lies in memory which somebody keeps for us.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace coterie {

/// Read like a span. What it looks at is a vector of its own, or memory (a mapped file, an array of the caller) that
/// stays there as long as `keeper` does; copies share that memory.
template <class T, class Owner = std::vector<T>>
class Array {
public:
    Array() = default;
    Array(Owner values) : own_(std::move(values)) {}
    Array(std::initializer_list<T> values) : own_(values) {}
    Array(std::span<const T> lent, std::shared_ptr<const void> keeper) : lent_(lent), keeper_(std::move(keeper)) {}

    const T* data() const { return keeper_ ? lent_.data() : own_.data(); }
    std::size_t size() const { return keeper_ ? lent_.size() : own_.size(); }
    bool empty() const { return size() == 0; }
    bool is_lent() const { return keeper_ != nullptr; }
    const T& operator[](std::size_t i) const { return data()[i]; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size(); }
    std::span<const T> view() const { return {data(), size()}; }

    /// The values as a vector that may be changed; lent ones are copied first.
    Owner& own() {
        if (keeper_) {
            own_.assign(lent_.begin(), lent_.end());
            lent_ = {};
            keeper_.reset();
        }
        return own_;
    }

private:
    Owner own_;
    std::span<const T> lent_;
    std::shared_ptr<const void> keeper_;
};

}  // namespace coterie
