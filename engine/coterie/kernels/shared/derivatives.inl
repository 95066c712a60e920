// kernels/shared/derivatives.inl: loops that need no intrinsics, compiled once per instruction set.
//
// Every operation is elementwise and rounds as IEEE 754 says, and sums run over a fixed number of lanes, so
// vectors of any width give the same bits. Included inside a namespace by generic/ and avx2/.

inline constexpr std::size_t kLanes = 16;

// e^x to about 1.5 units in the last place, for -87 <= x <= 88; clamped outside.
inline float exp_of(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds to an integer
    const float shifted = x * 1.44269504f + kRound;
    const float power = shifted - kRound;
    float rest = x - power * 0.693359375f;
    rest = rest - power * -2.12194440e-4f;
    float series = 1.9875691500e-4f;
    series = series * rest + 1.3981999507e-3f;
    series = series * rest + 8.3334519073e-3f;
    series = series * rest + 4.1665795894e-2f;
    series = series * rest + 1.6666665459e-1f;
    series = series * rest + 5.0000001201e-1f;
    series = series * rest * rest + rest + 1.0f;
    const auto exponent = static_cast<std::int32_t>(power);
    return series * std::bit_cast<float>((exponent + 127) << 23);
}

inline float log_of(float x) {  // x > 0 and finite
    const auto bits = std::bit_cast<std::int32_t>(x);
    const std::int32_t exponent = (bits - 0x3f3504f3) >> 23;  // mantissa in [sqrt(1/2), sqrt(2))
    const float mantissa = std::bit_cast<float>(bits - (exponent << 23)) - 1.0f;
    const auto power = static_cast<float>(exponent);
    float series = 7.0376836292e-2f;
    series = series * mantissa - 1.1514610310e-1f;
    series = series * mantissa + 1.1676998740e-1f;
    series = series * mantissa - 1.2420140846e-1f;
    series = series * mantissa + 1.4249322787e-1f;
    series = series * mantissa - 1.6668057665e-1f;
    series = series * mantissa + 2.0000714765e-1f;
    series = series * mantissa - 2.4999993993e-1f;
    series = series * mantissa + 3.3333331174e-1f;
    const float square = mantissa * mantissa;
    const float tail = series * mantissa * square + power * -2.12194440e-4f - 0.5f * square;
    return mantissa + tail + power * 0.693359375f;
}

void log_loss(const float* score, const float* y, const float* weight, std::size_t n, float* gradient, float* hessian) {
    for (std::size_t i = 0; i < n; ++i) {
        // Both probabilities from e^-|score|, so that the smaller one does not come from a cancellation.
        const float small = exp_of(-std::fabs(score[i]));
        const float likely = 1.0f / (1.0f + small);
        const float unlikely = small * likely;
        const float p = score[i] > 0.0f ? likely : unlikely;
        const float q = score[i] > 0.0f ? unlikely : likely;
        gradient[i] = y[i] > 0.5f ? -q : p;
        hessian[i] = likely * unlikely;
    }
    if (weight == nullptr) return;
    for (std::size_t i = 0; i < n; ++i) {
        gradient[i] *= weight[i];
        hessian[i] *= weight[i];
    }
}

void squared_error(const float* score, const float* y, const float* weight, std::size_t n, float* gradient) {
    for (std::size_t i = 0; i < n; ++i) gradient[i] = score[i] - y[i];
    if (weight == nullptr) return;
    for (std::size_t i = 0; i < n; ++i) gradient[i] *= weight[i];
}

void log_sum_exp(const float* scores, std::size_t n_classes, std::size_t class_stride, std::size_t n, float* out) {
    constexpr std::size_t kBlock = 256;
    float highest[kBlock];
    float sum[kBlock];
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
        for (std::size_t i = 0; i < m; ++i) highest[i] = scores[begin + i];
        for (std::size_t k = 1; k < n_classes; ++k) {
            const float* column = scores + k * class_stride + begin;
            for (std::size_t i = 0; i < m; ++i) highest[i] = column[i] > highest[i] ? column[i] : highest[i];
        }
        for (std::size_t i = 0; i < m; ++i) sum[i] = 0.0f;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const float* column = scores + k * class_stride + begin;
            for (std::size_t i = 0; i < m; ++i) sum[i] += exp_of(column[i] - highest[i]);
        }
        for (std::size_t i = 0; i < m; ++i) out[begin + i] = highest[i] + log_of(sum[i]);
    }
}

void softmax(const float* score, const float* log_sum, const std::int32_t* y, std::int32_t which, const float* weight,
             std::size_t n, float* gradient, float* hessian) {
    for (std::size_t i = 0; i < n; ++i) {
        const float p = exp_of(score[i] - log_sum[i]);
        gradient[i] = p - (y[i] == which ? 1.0f : 0.0f);
        const float h = p * (1.0f - p);
        hessian[i] = h > 1e-16f ? h : 1e-16f;
    }
    if (weight == nullptr) return;
    for (std::size_t i = 0; i < n; ++i) {
        gradient[i] *= weight[i];
        hessian[i] *= weight[i];
    }
}

void softmax_direction(const ClassScores& scores, const std::int32_t* y, const float* direction, const float* weight,
                       std::size_t n, float* log_sum, float* gradient, float* hessian) {
    constexpr std::size_t kBlock = 256;
    float highest[kBlock];
    float origin[kBlock];
    float sum[kBlock];
    float first[kBlock];
    float second[kBlock];
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
        for (std::size_t i = 0; i < m; ++i) {
            highest[i] = scores.values[begin + i];
            origin[i] = direction[0];
            sum[i] = first[i] = second[i] = 0.0f;
        }
        for (std::size_t k = 1; k < scores.n_classes; ++k) {
            const float* column = scores.values + k * scores.stride + begin;
            const float here = direction[k];
            for (std::size_t i = 0; i < m; ++i) {
                const bool higher = column[i] > highest[i];
                highest[i] = higher ? column[i] : highest[i];
                origin[i] = higher ? here : origin[i];
            }
        }
        // Measured from the likeliest class, whose share may be nearly 1, nothing cancels.
        for (std::size_t k = 0; k < scores.n_classes; ++k) {
            const float* column = scores.values + k * scores.stride + begin;
            const float here = direction[k];
            for (std::size_t i = 0; i < m; ++i) {
                const float part = exp_of(column[i] - highest[i]);
                const float away = here - origin[i];
                const float moment = part * away;
                sum[i] += part;
                first[i] += moment;
                second[i] += moment * away;
            }
        }
        for (std::size_t i = 0; i < m; ++i) {
            log_sum[begin + i] = highest[i] + log_of(sum[i]);
            const float mean = first[i] / sum[i];
            const float h = second[i] / sum[i] - mean * mean;
            gradient[begin + i] = mean - (direction[y[begin + i]] - origin[i]);
            hessian[begin + i] = h > 1e-16f ? h : 1e-16f;
        }
    }
    if (weight == nullptr) return;
    for (std::size_t i = 0; i < n; ++i) {
        gradient[i] *= weight[i];
        hessian[i] *= weight[i];
    }
}

SizeBits sizes(const float* values, std::size_t n) {
    std::int32_t most[kLanes] = {};  // as integers, sizes are in the order of the numbers, and NaN is above them
    std::int32_t bits[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const auto own = std::bit_cast<std::int32_t>(values[i + lane]);
            const std::int32_t size = own & 0x7fffffff;
            most[lane] = size > most[lane] ? size : most[lane];
            bits[lane] |= own;
        }
    for (; i < n; ++i) {
        const auto own = std::bit_cast<std::int32_t>(values[i]);
        const std::int32_t size = own & 0x7fffffff;
        most[0] = size > most[0] ? size : most[0];
        bits[0] |= own;
    }
    std::int32_t all = 0;
    std::int32_t signs = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        all = most[lane] > all ? most[lane] : all;
        signs |= bits[lane];
    }
    return {.largest = static_cast<std::uint32_t>(all), .signs = static_cast<std::uint32_t>(signs) >> 31};
}

std::uint64_t sum_sizes(const float* values, std::size_t n, float scale) {
    constexpr std::size_t kChunk = 1024 * kLanes;  // 2^10 numbers up to 2^20 fit a lane
    std::uint64_t all = 0;
    for (std::size_t begin = 0; begin < n; begin += kChunk) {
        std::int32_t sum[kLanes] = {};
        const std::size_t end = n < begin + kChunk ? n : begin + kChunk;
        std::size_t i = begin;
        for (; i + kLanes <= end; i += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                sum[lane] += static_cast<std::int32_t>(std::fabs(values[i + lane]) * scale);
        for (; i < end; ++i) all += static_cast<std::uint64_t>(std::fabs(values[i]) * scale);
        for (const std::int32_t each : sum) all += static_cast<std::uint64_t>(each);
    }
    return all;
}

void row_sizes(const float* gradient, const float* hessian, std::size_t n, float weight, float* sizes) {
    if (hessian == nullptr)
        for (std::size_t i = 0; i < n; ++i) sizes[i] = std::sqrt(gradient[i] * gradient[i] + weight);
    else
        for (std::size_t i = 0; i < n; ++i)
            sizes[i] = std::sqrt(gradient[i] * gradient[i] + weight * (hessian[i] * hessian[i]));
}

inline std::uint32_t is_drawn(std::uint32_t row, std::uint32_t salt, float size, float limit) {
    const float unit = static_cast<float>(static_cast<std::int32_t>(hash_of_row(row, salt) >> 8)) * 0x1.0p-24f;
    return unit * limit < size ? 1u : 0u;
}

std::size_t draw(const float* sizes, float limit, const RowIndex* rows, RowIndex first_row, std::size_t n,
                 std::uint32_t salt, std::uint8_t* drawn) {
    std::uint32_t count = 0;
    if (rows == nullptr)
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t mark = is_drawn(first_row + static_cast<RowIndex>(i), salt, sizes[i], limit);
            drawn[i] = static_cast<std::uint8_t>(mark);
            count += mark;
        }
    else
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t mark = is_drawn(rows[i], salt, sizes[i], limit);
            drawn[i] = static_cast<std::uint8_t>(mark);
            count += mark;
        }
    return count;
}

inline std::int32_t floor_of(float x) {
    const auto whole = static_cast<std::int32_t>(x);
    return whole - (static_cast<float>(whole) > x ? 1 : 0);
}

// Rounds up with the probability of the fraction, so that sums are right on average whatever the scale.
template <class RowOf>
void round_rows(const float* gradient, const float* hessian, RowOf row_of, std::size_t n, const Rounding& rounding,
                Pair* out) {
    const float gradient_scale = rounding.gradient_scale;
    const float hessian_scale = rounding.hessian_scale;
    const std::uint32_t salt = rounding.salt;
    if (hessian == nullptr) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t bits = hash_of_row(row_of(i), salt);
            const float up = static_cast<float>(static_cast<std::int32_t>(bits >> 16)) * 0x1.0p-16f;
            out[i] = make_gradient_pair(floor_of(gradient[i] * gradient_scale + up), 1);
        }
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t bits = hash_of_row(row_of(i), salt);
        const float up = static_cast<float>(static_cast<std::int32_t>(bits >> 16)) * 0x1.0p-16f;
        const float up_too = static_cast<float>(static_cast<std::int32_t>(bits & 0xffffu)) * 0x1.0p-16f;
        const std::int32_t g = floor_of(gradient[i] * gradient_scale + up);
        const std::int32_t h = floor_of(hessian[i] * hessian_scale + up_too);
        out[i] = make_gradient_pair(g, static_cast<std::uint32_t>(h));
    }
}

void round_pairs(const float* gradient, const float* hessian, const RowIndex* rows, RowIndex first_row, std::size_t n,
                 const Rounding& rounding, Pair* out) {
    if (rows == nullptr)
        round_rows(
            gradient, hessian, [=](std::size_t i) { return first_row + static_cast<RowIndex>(i); }, n, rounding, out);
    else
        round_rows(gradient, hessian, [=](std::size_t i) { return rows[i]; }, n, rounding, out);
}
