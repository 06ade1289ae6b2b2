// The part of the ZIP format that NumPy's .npz files use: members stored or deflated, 64-bit sizes read, no encryption.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trn::sparse::files {

// Every member by name, unpacked and its checksum compared. Memory grows with the data, not with the sizes that the
// archive states. Throws InvalidArgument that names `name`.
[[nodiscard]] std::map<std::string, std::string> unzip(const char* operation, const std::string& name,
                                                       std::string_view archive);
// Members in the given order; each below 4 GiB.
[[nodiscard]] std::string zip(const char* operation, const std::vector<std::pair<std::string, std::string>>& members,
                              bool deflate);

}  // namespace trn::sparse::files
