// Names in the report are demangled: templates, lambdas, operators, namespaces.
// flags: -O1
// orders: both
#include <functional>
#include <utility>

#include "../include/threads.hpp"

namespace outer {
template <class T, int N>
struct Box {
    T values[N];
    [[gnu::noinline]] Box &operator+=(std::pair<int, T> change) {
        values[change.first] += change.second; //~ RACE value
        return *this;
    }
};
} // namespace outer

outer::Box<long, 4> box;

int main() {
    std::function<void(int)> add = [](int n) { box += std::pair<int, long>(2, n); };
    crowd(2, [&](int n) {
        turn(n + 1);
        add(n + 1);
        next_turn();
    });
    std::printf("%ld\n", box.values[2]);
}
