// A program whose heap has the same peak in every run, for first_gate_test.

#include <string>
#include <vector>

int main() {
  const std::vector<std::string> rows(1000, std::string(1000, 'x'));
  return rows.back().back() == 'x' ? 0 : 1;
}
