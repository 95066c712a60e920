#include "coterie/storage/coded_numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/storage/zigzag.hpp"

namespace coterie {
namespace {

static_assert(std::endian::native == std::endian::little, "Files are little-endian, and read as they are.");

enum class Form : std::uint8_t { dictionary = 1, frame_of_reference = 2, delta = 3 };

constexpr std::size_t kBlock = 128;
constexpr std::size_t kMaxDictionary = std::size_t{1} << 16;
constexpr std::size_t kSlack = 16;  // bytes after the bits of a block that reading may touch

std::size_t bytes_for(std::size_t n, std::size_t width) { return (n * width + 7) / 8; }

std::size_t width_of(std::uint64_t most) { return static_cast<std::size_t>(std::bit_width(most)); }

/// Appends numbers of some bits each.
class BitWriter {
public:
    explicit BitWriter(std::vector<std::uint8_t>& out) : out_(out) {}

    void put(std::uint64_t value, std::size_t width) {
        while (width > 0) {
            const std::size_t n = std::min(width, 8 - used_);
            byte_ |= static_cast<std::uint8_t>((value & ((1u << n) - 1)) << used_);
            value = n < 64 ? value >> n : 0;
            width -= n;
            used_ += n;
            if (used_ == 8) flush();
        }
    }
    void flush() {
        if (used_ > 0) out_.push_back(byte_);
        byte_ = 0;
        used_ = 0;
    }

private:
    std::vector<std::uint8_t>& out_;
    std::uint8_t byte_ = 0;
    std::size_t used_ = 0;
};

/// Number i of those of `width` bits; kSlack bytes may be read after the last.
inline std::uint64_t bits_at(const std::uint8_t* bits, std::size_t i, std::size_t width) {
    const std::size_t first = i * width;
    const std::uint8_t* const from = bits + first / 8;
    const std::size_t shift = first % 8;
    std::uint64_t low;
    std::memcpy(&low, from, 8);
    std::uint64_t value = low >> shift;
    if (shift + width > 64) value |= std::uint64_t{from[8]} << (64 - shift);
    return width < 64 ? value & ((std::uint64_t{1} << width) - 1) : value;
}

/// Calls visit(i, the i-th number of this many bits) for n numbers.
template <class Visit>
void for_numbers(const std::uint8_t* bits, std::size_t n, std::size_t width, Visit visit) {
    if (width > 57) {  // a number can begin in one word and end in the next
        for (std::size_t i = 0; i < n; ++i) visit(i, bits_at(bits, i, width));
        return;
    }
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    for (std::size_t i = 0, first = 0; i < n; ++i, first += width) {
        std::uint64_t word;
        std::memcpy(&word, bits + first / 8, 8);
        visit(i, word >> first % 8 & mask);
    }
}

/// Takes the coded bytes from the front.
class Bytes {
public:
    explicit Bytes(std::span<const std::uint8_t> left) : left_(left) {}

    std::span<const std::uint8_t> take(std::size_t n) {
        require(n <= left_.size(), "Coded numbers end too early.");
        const auto taken = left_.first(n);
        left_ = left_.subspan(n);
        return taken;
    }
    template <class T>
    T number() {
        T value;
        std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
        return value;
    }
    bool is_empty() const { return left_.empty(); }

private:
    std::span<const std::uint8_t> left_;
};

template <class T>
void append(std::vector<std::uint8_t>& out, const T& value) {
    const std::size_t at = out.size();
    out.resize(at + sizeof(T));
    std::memcpy(out.data() + at, &value, sizeof(T));
}

/// The distinct items, ascending; nothing if there are too many to be worth a table.
template <class T>
std::optional<std::vector<T>> dictionary_of(const T* items, std::size_t n) {
    const std::size_t most = std::min(kMaxDictionary, n / 2 + 1);
    std::vector<T> known(items, items + std::min(n, 2 * kMaxDictionary));
    const auto thin_out = [&] {
        std::ranges::sort(known);
        known.erase(std::unique(known.begin(), known.end()), known.end());
    };
    for (std::size_t next = known.size();;) {
        thin_out();
        if (known.size() > most) return {};
        if (next == n) return known;
        const std::size_t n_more = std::min(n - next, 2 * kMaxDictionary);
        known.insert(known.end(), items + next, items + next + n_more);
        next += n_more;
    }
}

template <class T>
std::vector<std::uint8_t> code_dictionary(const T* items, std::size_t n, const std::vector<T>& known) {
    const std::size_t width = width_of(known.size() - 1);
    std::vector<std::uint8_t> out;
    out.reserve(5 + known.size() * sizeof(T) + bytes_for(n, width));
    out.push_back(static_cast<std::uint8_t>(Form::dictionary));
    append(out, static_cast<std::uint32_t>(known.size()));
    for (const T item : known) append(out, item);
    BitWriter bits(out);
    for (std::size_t i = 0; i < n && width > 0; ++i)
        bits.put(static_cast<std::uint64_t>(std::ranges::lower_bound(known, items[i]) - known.begin()), width);
    bits.flush();
    return out;
}

template <class T>
void decode_dictionary(Bytes& bytes, T* items, std::size_t n) {
    const std::size_t n_known = bytes.number<std::uint32_t>();
    require(n_known > 0 && n_known <= kMaxDictionary, "Coded numbers have an impossible number of distinct items.");
    std::vector<T> known(n_known);
    std::memcpy(known.data(), bytes.take(n_known * sizeof(T)).data(), n_known * sizeof(T));
    require(std::ranges::adjacent_find(known, [](T a, T b) { return a >= b; }) == known.end(),
            "The distinct items of coded numbers do not ascend.");
    const std::size_t width = width_of(n_known - 1);
    if (width == 0) {
        std::fill_n(items, n, known[0]);
        return;
    }
    known.resize(std::size_t{1} << width, known.back());  // every index of this many bits exists
    std::array<std::uint8_t, kBlock * 2 + kSlack> block{};
    std::uint64_t greatest = 0;
    for (std::size_t first = 0; first < n; first += kBlock) {
        const std::size_t n_now = std::min(kBlock, n - first);
        const auto own = bytes.take(bytes_for(n_now, width));
        std::memcpy(block.data(), own.data(), own.size());
        T* const out = items + first;
        for_numbers(block.data(), n_now, width, [&](std::size_t i, std::uint64_t index) {
            greatest = std::max(greatest, index);
            out[i] = known[index];
        });
    }
    require(greatest < n_known, "Coded numbers name a distinct item that is not there.");
}

// Calls visit(item or difference from the last one, its index) for each item.
template <class T, class Visit>
void for_items(const T* items, std::size_t n, bool delta, Visit visit) {
    T last = 0;
    for (std::size_t i = 0; i < n; ++i) {
        visit(delta ? zigzag(static_cast<T>(items[i] - last)) : items[i], i);
        last = items[i];
    }
}

template <class T>
std::vector<std::uint8_t> code_blocks(const T* items, std::size_t n, bool delta) {
    std::vector<std::uint8_t> out;
    out.push_back(static_cast<std::uint8_t>(delta ? Form::delta : Form::frame_of_reference));
    std::vector<T> values(n);
    for_items(items, n, delta, [&](T value, std::size_t i) { values[i] = value; });
    for (std::size_t first = 0; first < n; first += kBlock) {
        const std::size_t end = std::min(n, first + kBlock);
        const auto [least, most] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                                                       values.begin() + static_cast<std::ptrdiff_t>(end));
        const T base = *least;
        const std::size_t width = width_of(static_cast<std::uint64_t>(*most - base));
        out.push_back(static_cast<std::uint8_t>(width));
        append(out, base);
        BitWriter bits(out);
        for (std::size_t i = first; i < end; ++i) bits.put(static_cast<T>(values[i] - base), width);
        bits.flush();
    }
    return out;
}

template <class T>
std::size_t size_of_blocks(const T* items, std::size_t n, bool delta) {
    std::size_t size = 1;
    T least = 0;
    T most = 0;
    for_items(items, n, delta, [&](T value, std::size_t i) {
        least = i % kBlock == 0 ? value : std::min(least, value);
        most = i % kBlock == 0 ? value : std::max(most, value);
        if (i % kBlock + 1 == kBlock || i + 1 == n)
            size += 1 + sizeof(T) + bytes_for(i % kBlock + 1, width_of(static_cast<std::uint64_t>(most - least)));
    });
    return size;
}

template <class T>
void decode_blocks(Bytes& bytes, T* items, std::size_t n, bool delta) {
    std::array<std::uint8_t, kBlock * 8 + kSlack> block{};
    T last = 0;
    for (std::size_t first = 0; first < n; first += kBlock) {
        const std::size_t n_now = std::min(kBlock, n - first);
        const std::size_t width = bytes.number<std::uint8_t>();
        require(width <= 8 * sizeof(T), "A block of coded numbers has an impossible width.");
        const T base = bytes.number<T>();
        const auto own = bytes.take(bytes_for(n_now, width));
        std::memcpy(block.data(), own.data(), own.size());
        T* const out = items + first;
        for_numbers(block.data(), n_now, width,
                    [&](std::size_t i, std::uint64_t more) { out[i] = static_cast<T>(base + more); });
        if (!delta) continue;
        for (std::size_t i = 0; i < n_now; ++i) out[i] = last = static_cast<T>(last + unzigzag(out[i]));
    }
}

template <class T>
std::vector<std::uint8_t> code(const T* items, std::size_t n) {
    const std::size_t plain = n * sizeof(T);
    const std::size_t frames = size_of_blocks(items, n, false);
    const std::size_t deltas = size_of_blocks(items, n, true);
    const auto known = dictionary_of(items, n);
    const std::size_t dictionary =
        known ? 5 + known->size() * sizeof(T) + bytes_for(n, width_of(known->size() - 1)) : plain;
    const std::size_t best = std::min({dictionary, frames, deltas});
    if (best >= plain || best > plain - plain / 16) return {};
    if (best == dictionary) return code_dictionary(items, n, *known);
    return code_blocks(items, n, best == deltas);
}

template <class T>
void decode(std::span<const std::uint8_t> coded, T* items, std::size_t n) {
    Bytes bytes(coded);
    switch (static_cast<Form>(bytes.number<std::uint8_t>())) {
        case Form::dictionary: decode_dictionary(bytes, items, n); break;
        case Form::frame_of_reference: decode_blocks(bytes, items, n, false); break;
        case Form::delta: decode_blocks(bytes, items, n, true); break;
        default: throw InvalidInput("Coded numbers are of an unknown form.");
    }
    require(bytes.is_empty(), "Something comes after the last of some coded numbers.");
}

// Calls work(a null pointer of the whole number of this size).
template <class Work>
auto with_type(std::size_t item_size, Work work) {
    switch (item_size) {
        case 1: return work(static_cast<std::uint8_t*>(nullptr));
        case 2: return work(static_cast<std::uint16_t*>(nullptr));
        case 4: return work(static_cast<std::uint32_t*>(nullptr));
        case 8: return work(static_cast<std::uint64_t*>(nullptr));
        default: throw InvalidInput("Items of " + std::to_string(item_size) + " bytes cannot be coded.");
    }
}

}  // namespace

std::vector<std::uint8_t> code_numbers(std::span<const std::byte> items, std::size_t item_size) {
    return with_type(item_size, [&](auto* type) -> std::vector<std::uint8_t> {
        using T = std::remove_pointer_t<decltype(type)>;
        if (items.empty()) return {};
        return code(reinterpret_cast<const T*>(items.data()), items.size() / sizeof(T));
    });
}

void decode_numbers(std::span<const std::uint8_t> coded, std::size_t item_size, std::span<std::byte> items) {
    with_type(item_size, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        require(items.size() % sizeof(T) == 0, "Coded numbers need room for whole items.");
        decode(coded, reinterpret_cast<T*>(items.data()), items.size() / sizeof(T));
    });
}

}  // namespace coterie
