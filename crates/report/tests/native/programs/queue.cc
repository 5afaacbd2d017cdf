#include "marks.h"
#include <vector>

namespace shop {
template <typename T> struct Queue {
    std::vector<T> items;
    __attribute__((noinline)) void push(T item) {
        items.push_back(item); MARK(push); // LINE push
    }
};
static Queue<int> orders; // LINE orders
} // namespace shop

__attribute__((noinline)) void fill(shop::Queue<int> &queue, int n) {
    queue.push(n); MARK(fill); // LINE fill
}

int main() { fill(shop::orders, 1); }
