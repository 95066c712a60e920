// kernels/shared/bits.inl: flags of rows, a byte each, as bits; for sets without an instruction that does it.
// Included inside a namespace.

// Eight bytes of 0 or 1 as the bits of one, the first the lowest: each product moves a flag to a bit of the highest
// byte of its own, so that nothing carries.
[[maybe_unused]] inline std::uint64_t load_flags(const std::uint8_t* flags) {
    std::uint64_t word;
    std::memcpy(&word, flags, sizeof(word));
    return word;
}
[[maybe_unused]] inline std::uint8_t bits_of_flags(std::uint64_t flags) {
    constexpr std::uint64_t kPlaces =
        std::endian::native == std::endian::little ? 0x0102040810204080ull : 0x8040201008040201ull;
    return static_cast<std::uint8_t>(flags * kPlaces >> 56);
}
[[maybe_unused]] inline std::size_t count_flags(std::uint64_t flags) {
    return static_cast<std::size_t>(flags * 0x0101010101010101ull >> 56);
}

[[maybe_unused]] inline std::uint32_t count_bits(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555ull;
    word = (word & 0x3333333333333333ull) + (word >> 2 & 0x3333333333333333ull);
    return static_cast<std::uint32_t>(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull >> 56);
}
