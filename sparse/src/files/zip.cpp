// ZIP archives over zlib.
#include "files/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include <trn/core/error.hpp>

namespace trn::sparse::files {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator = 0x07064b50, kWide = 0xffffffff;

class Reader {
 public:
  Reader(const char* operation, const std::string& name, std::string_view data)
      : operation_(operation), name_(name), data_(data) {}
  [[noreturn]] void refuse(const char* why) const { fail<InvalidArgument>("{}: {}: {}", operation_, name_, why); }
  [[nodiscard]] std::uint64_t number(std::uint64_t at, int bytes) const {
    if (at > data_.size() || data_.size() - at < static_cast<std::size_t>(bytes)) refuse("the archive is cut off");
    std::uint64_t value = 0;
    for (int k = bytes; k-- > 0;)
      value = value << 8 | static_cast<unsigned char>(data_[at + static_cast<std::size_t>(k)]);
    return value;
  }
  [[nodiscard]] std::string_view bytes(std::uint64_t at, std::uint64_t size) const {
    if (at > data_.size() || data_.size() - at < size) refuse("the archive is cut off");
    return data_.substr(at, size);
  }
  [[nodiscard]] std::uint64_t size() const { return data_.size(); }

 private:
  const char* operation_;
  const std::string& name_;
  std::string_view data_;
};

std::string inflated(const Reader& in, std::string_view packed, std::uint64_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) in.refuse("zlib does not start");
  struct End {
    z_stream* s;
    ~End() { inflateEnd(s); }
  } end{&stream};
  std::string out;
  std::vector<char> piece(std::size_t{1} << 16);
  std::size_t given = 0;
  for (;;) {
    if (stream.avail_in == 0 && given < packed.size()) {
      const std::size_t step = std::min<std::size_t>(packed.size() - given, std::size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + given));
      stream.avail_in = static_cast<uInt>(step);
      given += step;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
    if (out.size() > size) in.refuse("a member is longer than the archive states");
    if (code == Z_STREAM_END) return out;
    if (code != Z_OK) in.refuse("a member is damaged");
  }
}

std::string deflated(const char* operation, const std::string& data) {
  z_stream stream{};
  ensure(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "{}: zlib does not start",
         operation);
  std::string out(deflateBound(&stream, static_cast<uLong>(data.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = ::deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  ensure(code == Z_STREAM_END, "{}: zlib stops with {}", operation, code);
  out.resize(stream.total_out);
  return out;
}

std::uint32_t checksum(std::string_view data) {
  uLong sum = crc32(0, nullptr, 0);
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t step = std::min<std::size_t>(data.size() - at, std::size_t{1} << 30);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(data.data() + at), static_cast<uInt>(step));
    at += step;
  }
  return static_cast<std::uint32_t>(sum);
}

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int k = 0; k < bytes; ++k) to += static_cast<char>(value >> (8 * k) & 0xff);
}

}  // namespace

std::map<std::string, std::string> unzip(const char* operation, const std::string& name, std::string_view archive) {
  const Reader in(operation, name, archive);
  if (in.size() < 22) in.refuse("not a .npz archive");
  std::uint64_t end = in.size() - 22;
  const std::uint64_t lowest = in.size() > 22 + 65535 ? in.size() - 22 - 65535 : 0;
  while (in.number(end, 4) != kEnd) {
    if (end == lowest) in.refuse("not a .npz archive");
    --end;
  }
  std::uint64_t count = in.number(end + 10, 2), at = in.number(end + 16, 4);
  if (end >= 20 && in.number(end - 20, 4) == kLocator) {
    const std::uint64_t wide = in.number(end - 20 + 8, 8);
    if (in.number(wide, 4) != kEnd64) in.refuse("the archive's 64-bit end is damaged");
    count = in.number(wide + 32, 8);
    at = in.number(wide + 48, 8);
  }
  std::map<std::string, std::string> members;
  for (std::uint64_t k = 0; k < count; ++k) {
    if (in.number(at, 4) != kCentral) in.refuse("the archive's directory is damaged");
    const std::uint64_t flags = in.number(at + 8, 2), method = in.number(at + 10, 2), crc = in.number(at + 16, 4);
    std::uint64_t packed = in.number(at + 20, 4), size = in.number(at + 24, 4), local = in.number(at + 42, 4);
    const std::uint64_t name_bytes = in.number(at + 28, 2), extra = in.number(at + 30, 2),
                        comment = in.number(at + 32, 2);
    const std::string member(in.bytes(at + 46, name_bytes));
    const std::uint64_t extra_end = at + 46 + name_bytes + extra;
    for (std::uint64_t e = at + 46 + name_bytes; e + 4 <= extra_end;) {
      const std::uint64_t id = in.number(e, 2), length = in.number(e + 2, 2);
      std::uint64_t f = e + 4;
      if (id == 1) {
        for (std::uint64_t* wide : {&size, &packed, &local}) {
          if (*wide == kWide) *wide = in.number(f, 8), f += 8;
        }
      }
      e += 4 + length;
    }
    at = extra_end + comment;
    if ((flags & 1) != 0) in.refuse("a member is encrypted");
    if (in.number(local, 4) != kLocal) in.refuse("a member's header is damaged");
    const std::uint64_t data = local + 30 + in.number(local + 26, 2) + in.number(local + 28, 2);
    const std::string_view raw = in.bytes(data, packed);
    std::string content;
    if (method == 0)
      content = raw;
    else if (method == 8)
      content = inflated(in, raw, size);
    else
      in.refuse("a member is neither stored nor deflated");
    if (content.size() != size) in.refuse("a member does not have the stated size");
    if (checksum(content) != crc) in.refuse("a member's checksum is wrong");
    if (!members.emplace(member, std::move(content)).second) in.refuse("a member comes twice");
  }
  return members;
}

std::string zip(const char* operation, const std::vector<std::pair<std::string, std::string>>& members, bool deflate) {
  std::string out, directory;
  for (const auto& [name, data] : members) {
    require(data.size() < kWide, "{}: '{}' has {} bytes; members end at 4 GiB", operation, name, data.size());
    const std::string packed = deflate ? deflated(operation, data) : data;
    require(out.size() + packed.size() < kWide, "{}: the archive would exceed 4 GiB", operation);
    std::string header;
    put(header, 20, 2), put(header, 0, 2), put(header, deflate ? 8 : 0, 2);
    put(header, 0, 2), put(header, 33, 2);  // 1 January 1980: the same bytes every time
    put(header, checksum(data), 4), put(header, packed.size(), 4), put(header, data.size(), 4);
    put(header, name.size(), 2), put(header, 0, 2);
    put(directory, kCentral, 4), put(directory, 20, 2);
    directory += header;
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4),
        put(directory, out.size(), 4);
    directory += name;
    put(out, kLocal, 4);
    out.append(header).append(name).append(packed);
  }
  const std::size_t start = out.size();
  out += directory;
  put(out, kEnd, 4), put(out, 0, 4), put(out, members.size(), 2), put(out, members.size(), 2);
  put(out, directory.size(), 4), put(out, start, 4), put(out, 0, 2);
  return out;
}

}  // namespace trn::sparse::files
