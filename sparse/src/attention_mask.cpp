// Masks of attention: rows of flags, cut into blocks of 128 x 128.
#include <trn/sparse/attention.hpp>

#include <algorithm>
#include <map>
#include <string>

#include <trn/core/error.hpp>

#include "host_data.hpp"

namespace trn::sparse {

// fill(query, flags) sets the flags of the allowed keys; they are zero before.
template <class Fill> void AttentionMask::build(std::int64_t queries, std::int64_t keys, const Fill& fill) {
  require(queries >= 0 && keys >= 0, "sparse.attention: a mask of {} queries and {} keys", queries, keys);
  auto data = std::make_shared<Data>();
  data->queries = queries, data->keys = keys;
  data->alive.resize(static_cast<std::size_t>(queries));
  const std::int64_t width = (keys + kBlock - 1) / kBlock * kBlock;
  std::vector<std::uint8_t> rows;
  std::vector<std::int64_t> met(static_cast<std::size_t>(keys));
  std::map<std::string, std::int32_t> known;  // by the flags
  for (std::int64_t first = 0; first < queries; first += kBlock) {
    const std::int64_t count = std::min(kBlock, queries - first);
    rows.assign(static_cast<std::size_t>(count * width), 0);
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint8_t* row = rows.data() + i * width;
      fill(first + i, row);
      std::int64_t own = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        row[j] = row[j] != 0 ? 1 : 0;
        own += row[j];
        met[static_cast<std::size_t>(j)] += row[j];
      }
      data->alive[static_cast<std::size_t>(first + i)] = own > 0 ? 1 : 0;
      data->pairs += own;
      data->most_keys = std::max(data->most_keys, own);
    }
    for (std::int64_t column = 0; column < width; column += kBlock) {
      const std::int64_t places = std::min(kBlock, keys - column);
      std::int64_t allowed = 0;
      for (std::int64_t i = 0; i < count; ++i)
        allowed += std::count(rows.data() + i * width + column, rows.data() + i * width + column + places, 1);
      if (allowed == 0) continue;
      std::int32_t part = -1;
      if (allowed < count * places) {
        std::vector<std::uint8_t> flags(static_cast<std::size_t>(kBlock * kBlock), 0);
        for (std::int64_t i = 0; i < count; ++i)
          std::copy_n(rows.data() + i * width + column, places, flags.data() + i * kBlock);
        const auto next = static_cast<std::int32_t>(data->parts.size());
        const auto [place, fresh] = known.emplace(std::string(flags.begin(), flags.end()), next);
        part = place->second;
        if (fresh) data->parts.push_back(std::move(flags));
      }
      data->blocks.push_back(
          {static_cast<std::int32_t>(first / kBlock), static_cast<std::int32_t>(column / kBlock), part});
    }
  }
  for (const std::int64_t m : met) {
    data->most_queries = std::max(data->most_queries, m);
    data->seen.push_back(m > 0 ? 1 : 0);
  }
  data_ = std::move(data);
}

AttentionMask::AttentionMask(const Pattern<>& allowed) {
  host_only("sparse.attention", allowed.executor());
  const PatternRef<std::int32_t> p = host_ref(allowed);
  build(p.rows, p.columns, [&](std::int64_t i, std::uint8_t* flags) {
    for (std::int64_t k = p.offsets[i]; k < p.offsets[i + 1]; ++k) flags[p.indices[k]] = 1;
  });
}

AttentionMask::AttentionMask(std::int64_t queries, std::int64_t keys,
                             const std::function<bool(std::int64_t, std::int64_t)>& allowed) {
  build(queries, keys, [&](std::int64_t i, std::uint8_t* flags) {
    for (std::int64_t j = 0; j < keys; ++j) flags[j] = allowed(i, j) ? 1 : 0;
  });
}

AttentionMask AttentionMask::full(std::int64_t queries, std::int64_t keys) {
  AttentionMask mask;
  mask.build(queries, keys, [&](std::int64_t, std::uint8_t* flags) { std::fill_n(flags, keys, std::uint8_t{1}); });
  return mask;
}

AttentionMask AttentionMask::causal(std::int64_t queries, std::int64_t keys) {
  AttentionMask mask;
  mask.build(queries, keys, [&](std::int64_t i, std::uint8_t* flags) {
    std::fill_n(flags, std::clamp<std::int64_t>(i + 1 + keys - queries, 0, keys), std::uint8_t{1});
  });
  return mask;
}

AttentionMask AttentionMask::from_blocks(std::int64_t queries, std::int64_t keys, std::int64_t block,
                                         const Pattern<>& blocks) {
  host_only("sparse.attention", blocks.executor());
  require(
      block >= 1 && blocks.rows() == (queries + block - 1) / block && blocks.columns() == (keys + block - 1) / block,
      "sparse.attention: a mask of {} x {} blocks of {} for {} queries and {} keys", blocks.rows(), blocks.columns(),
      block, queries, keys);
  const PatternRef<std::int32_t> p = host_ref(blocks);
  AttentionMask mask;
  mask.build(queries, keys, [&](std::int64_t i, std::uint8_t* flags) {
    for (std::int64_t k = p.offsets[i / block]; k < p.offsets[i / block + 1]; ++k) {
      const std::int64_t first = p.indices[k] * block;
      std::fill_n(flags + first, std::min(block, keys - first), std::uint8_t{1});
    }
  });
  return mask;
}

}  // namespace trn::sparse
