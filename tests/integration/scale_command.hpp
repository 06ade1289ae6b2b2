// What `trnsci scale` says, for tests.
#pragma once

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace trn::testing_support {

inline nlohmann::json scale(const std::string& arguments) {
  const std::string command = std::string(TRNSCI_COMMAND) + " scale " + arguments + " --json -";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
  return nlohmann::json::parse(text);
}

}  // namespace trn::testing_support
