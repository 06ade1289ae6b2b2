// Reading rules: see rules.hpp.
#include "rules.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace fake {

namespace {

std::uint64_t bytes_of(const std::string& text) {
  std::size_t end = 0;
  const std::uint64_t number = std::stoull(text, &end);
  const std::string unit = text.substr(end);
  if (unit == "GiB") return number << 30;
  if (unit == "MiB") return number << 20;
  if (unit == "KiB") return number << 10;
  return number;
}

void read_word(const std::string& word, Rules& rules, Fault& fault) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (key == "family") {
    rules.family = static_cast<std::uint32_t>(std::stoul(value));
  } else if (key == "cores") {
    rules.cores = std::stoi(value);
  } else if (key == "memory") {
    rules.memory = bytes_of(value);
  } else if (key == "depth") {
    rules.depth = std::stoul(value);
  } else if (key == "lag") {
    rules.lag = std::stoi(value);
  } else if (key == "stuck") {
    rules.stuck = std::stoi(value);
  } else if (key == "kernel_us") {
    rules.kernel_us = std::stod(value);
  } else if (key == "delay_us") {
    rules.delay_us = std::stod(value);
  } else if (key == "null") {
    rules.null = true;
  } else if (key == "text") {
    rules.text = true;
  } else if (key == "zero") {
    rules.zero = true;
  } else if (key == "any_machine") {
    rules.any_machine = true;
  } else if (key == "lock") {
    rules.lock = value;
  } else if (key == "call") {
    fault.call = value;
  } else if (key == "nth") {
    fault.nth = std::stoull(value);
  } else if (key == "count") {
    fault.count = std::stoull(value);
  } else if (key == "status") {
    fault.status = static_cast<trn::neuron::nrt::Status>(std::stoul(value));
  } else if (key == "hang") {
    fault.hang = true;
  } else if (key == "crash") {
    fault.crash = true;
  } else {
    std::fprintf(stderr, "fake libnrt: the rule '%s' is not known\n", word.c_str());
    std::abort();
  }
}

}  // namespace

Rules read_rules(const std::string& text) {
  Rules rules;
  std::istringstream parts(text);
  std::string part;
  while (std::getline(parts, part, ';')) {
    Fault fault;
    std::istringstream words(part);
    std::string word;
    while (words >> word) read_word(word, rules, fault);
    if (!fault.call.empty()) rules.faults.push_back(fault);
  }
  return rules;
}

}  // namespace fake
