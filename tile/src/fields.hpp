// Field visitors: each program struct lists its fields once (its static visit), and hashing and JSON are written over
// that list, so a field added to a struct cannot be forgotten by either.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace trn::tile {

template <class T> inline constexpr bool is_vector = false;
template <class T> inline constexpr bool is_vector<std::vector<T>> = true;

// Every field in order as a list of 64-bit words.
class FieldWords {
 public:
  template <class T> void operator()(const char*, const T& value) { add(value); }
  template <class T> void add(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      words.push_back(value.size());
      for (const char c : value) words.push_back(static_cast<unsigned char>(c));
    } else if constexpr (is_vector<T>) {
      words.push_back(value.size());
      for (const auto& element : value) add(element);
    } else if constexpr (std::is_same_v<T, double>) {
      words.push_back(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      words.push_back(static_cast<std::uint64_t>(value));
    } else {
      T::visit(value, *this);
    }
  }
  std::vector<std::uint64_t> words;
};

// Calls f(name, value) for the fields of type T.
template <class T, class Struct, class F> void for_each_field(const Struct& value, F&& f) {
  Struct::visit(value, [&](const char* field, const auto& member) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, T>) f(field, member);
  });
}

// FNV-1a over the bytes of every word.
template <class T> std::uint64_t field_hash(const T& value) {
  FieldWords fields;
  fields.add(value);
  std::uint64_t state = 0xcbf29ce484222325ull;
  for (const std::uint64_t word : fields.words) {
    for (int shift = 0; shift < 64; shift += 8) state = (state ^ ((word >> shift) & 0xff)) * 0x100000001b3ull;
  }
  return state;
}

}  // namespace trn::tile
