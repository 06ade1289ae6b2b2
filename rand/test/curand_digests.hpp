// Digests of long draws of cuRAND 13.0 (libcurand.so.10, host generators): every bit of the first `count` floats and of
// the first `count` doubles. A value that is one ulp off now and then, which a few committed values would miss, changes
// them.
#pragma once

#include <cstdint>
#include <cstring>
#include <trn/rand/generator.hpp>
#include <vector>

namespace trn::rand::test {

struct CurandDigest {
  Algorithm algorithm;
  std::uint64_t seed;
  Ordering ordering;
  std::uint32_t dimensions;
  std::int64_t count;
  std::uint64_t floats, doubles;
};

template <class T> std::uint64_t digest(const std::vector<T>& values) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const T& x : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    sum = (sum ^ bits) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

inline constexpr CurandDigest kCurandDigests[] = {
    {Algorithm::Philox4x32_10, 7, Ordering::Default, 1, 65536, 0xe37f6823b5832eb4u, 0x9b972254c6e5e324u},
    {Algorithm::Philox4x32_10, 20261115, Ordering::Default, 1, 65536, 0x614bb612d93854a0u, 0xbbe38f0b9611907du},
    {Algorithm::Xorwow, 7, Ordering::Default, 1, 65536, 0xf3877426dc935854u, 0x5212ca63ce633159u},
    {Algorithm::Xorwow, 20261115, Ordering::Default, 1, 65536, 0x4211b1bd4b2fc326u, 0x22fd816a8b71647du},
    {Algorithm::Mrg32k3a, 7, Ordering::Default, 1, 65536, 0x78ae99f24f04c7bau, 0xbdba81856323ed80u},
    {Algorithm::Mrg32k3a, 20261115, Ordering::Default, 1, 65536, 0xb49bcc97589a7d55u, 0x8795b8bae20fc9f1u},
    {Algorithm::Mrg32k3a, 7, Ordering::Legacy, 1, 65536, 0x690ce5c1f24362b9u, 0x0e7174c5f18f09fau},
    {Algorithm::Mrg32k3a, 20261115, Ordering::Legacy, 1, 65536, 0x2e0cabab665f9c6bu, 0x49c19a4504ada80au},
    {Algorithm::Mt19937, 7, Ordering::Default, 1, 16384, 0x71fb314fa598c73bu, 0xc3e42d9516e9f4a3u},
    {Algorithm::Mt19937, 20261115, Ordering::Default, 1, 16384, 0x917df05b0a7dec05u, 0x467985b54b7d8934u},
    {Algorithm::Sobol32, 0, Ordering::Default, 4, 65536, 0x2ba6bec8665f184fu, 0xeb270c6167e2264bu},
    {Algorithm::ScrambledSobol32, 0, Ordering::Default, 4, 65536, 0x2b225a0c96dfc0f1u, 0xe4516753b7e2c423u},
    {Algorithm::Sobol64, 0, Ordering::Default, 4, 65536, 0x2ba6bec8665f184fu, 0x0e966051c46d003eu},
    {Algorithm::ScrambledSobol64, 0, Ordering::Default, 4, 65536, 0x2b225a0c96dfc0f1u, 0x6d81efd2882cb0a1u},
};

}  // namespace trn::rand::test
