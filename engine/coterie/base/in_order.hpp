// base/in_order.hpp: what several threads make in any order, used in the order of its numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace coterie {

/// Calls use(item) for item 0, 1, 2, ..., one after the other, as soon as all before it are there. A thread that adds
/// an item uses what is due, unless another is doing that already: nobody waits.
template <class Item>
class InOrder {
public:
    InOrder(std::size_t n, std::function<void(Item&)> use) : waiting_(n), use_(std::move(use)) {}

    void add(std::size_t number, Item&& item) {
        std::unique_lock hold(lock_);
        waiting_[number].emplace(std::move(item));
        if (busy_) return;
        busy_ = true;
        while (next_ < waiting_.size() && waiting_[next_]) {
            Item due = *std::exchange(waiting_[next_], std::nullopt);
            ++next_;
            hold.unlock();
            use_(due);
            hold.lock();
        }
        busy_ = false;
    }

private:
    std::mutex lock_;
    std::vector<std::optional<Item>> waiting_;
    std::function<void(Item&)> use_;
    std::size_t next_ = 0;
    bool busy_ = false;  // some thread is using items
};

}  // namespace coterie
