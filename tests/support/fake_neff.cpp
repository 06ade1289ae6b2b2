// NEFF files of the fake: see fake_neff.hpp.
#include "support/fake_neff.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <trn/neuron/nki.hpp>
#include <trn/tile/serialize.hpp>

namespace trn::neuron::testing {

namespace {

constexpr std::size_t kBlock = 512;

void append(std::vector<std::byte>& bytes, const void* data, std::size_t n) {
  const auto* from = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), from, from + n);
}

void add_member(std::vector<std::byte>& tar, const std::string& name, const std::string& content) {
  char head[kBlock] = {};
  std::memcpy(head, name.data(), name.size());
  std::snprintf(head + 124, 12, "%011zo", content.size());
  append(tar, head, kBlock);
  append(tar, content.data(), content.size());
  tar.resize((tar.size() + kBlock - 1) / kBlock * kBlock);
}

bool has_gaps(const tile::TensorDecl& t) {
  const OffsetRange range = offset_range(t.shape, t.strides);
  return range.highest - range.lowest + 1 != element_count(t.shape);
}

std::size_t bytes_of(const tile::TensorDecl& t) {
  const OffsetRange range = offset_range(t.shape, t.strides);
  return static_cast<std::size_t>((range.highest - range.lowest + 1) * size_bytes(t.dtype));
}

template <class T> void put(std::vector<std::byte>& neff, std::size_t at, T value) {
  std::memcpy(neff.data() + at, &value, sizeof value);
}

}  // namespace

FakeNeff fake_neff(const tile::Program& program, int lnc, int major, bool text) {
  FakeNeff made;
  neff::Manifest& m = made.manifest;
  m.entry = "kernel";
  m.machine = program.machine();
  m.lnc = lnc;
  m.program = program.name();
  m.hash = program.hash();
  m.sha256 = std::string(64, '0');
  m.versions = {{"nki", "0"}, {"neuronx-cc", "0"}, {"api", "test"}};
  const std::string suffix = ".must_alias_input";
  const auto& tensors = program.tensors();
  for (const tile::TensorDecl& t : tensors) {
    if (t.kind != tile::TensorKind::Input) continue;
    const auto output =
        std::ranges::find_if(tensors, [&](const auto& o) { return !o.alias.empty() && o.alias == t.name; });
    const bool continued = output != tensors.end();
    m.arguments.push_back({continued ? output->name + suffix : t.name, bytes_of(t), false, "", t.name});
  }
  for (const tile::TensorDecl& t : tensors) {
    if (t.kind == tile::TensorKind::Output && t.alias.empty() && has_gaps(t)) {
      m.arguments.push_back({t.name + suffix, bytes_of(t), false, "", t.name});
    }
  }
  for (const tile::TensorDecl& t : tensors) {
    if (t.kind != tile::TensorKind::Output) continue;
    const bool continues = !t.alias.empty() || has_gaps(t);
    m.arguments.push_back({t.name, bytes_of(t), true, continues ? t.name + suffix : "", t.name});
  }

  std::vector<std::byte> tar;
  add_member(tar, "manifest.json", neff::write_manifest(m));
  add_member(tar, "program.json", tile::serialize(program));
  if (text) add_member(tar, "kernel.py", emit_nki(program));
  tar.resize(tar.size() + 2 * kBlock);
  made.bytes.resize(neff::kHeaderBytes);
  put<std::uint64_t>(made.bytes, 0, 2);
  put<std::uint64_t>(made.bytes, 8, neff::kHeaderBytes);
  put<std::uint64_t>(made.bytes, 16, tar.size());
  put<std::uint64_t>(made.bytes, 24, static_cast<std::uint64_t>(major));
  put<std::uint32_t>(made.bytes, 168, 1);
  put<std::uint32_t>(made.bytes, 552, static_cast<std::uint32_t>(lnc));
  append(made.bytes, tar.data(), tar.size());
  return made;
}

nrt::NeffSource fake_source(bool text) {
  return [text](const tile::Program& program) {
    const auto made = std::make_shared<const FakeNeff>(fake_neff(program, 1, 1, text));
    return nrt::Compiled{made, made->bytes, made->manifest, std::to_string(program.hash()), true, 0};
  };
}

}  // namespace trn::neuron::testing
