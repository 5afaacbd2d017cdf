// Merge sort that sorts its halves in parallel, to a depth.
#include <algorithm>
#include <vector>

#include "../include/threads.hpp"

void sort(int *from, int *to, int depth) {
    if (depth == 0 || to - from < 2) {
        std::sort(from, to);
        return;
    }
    int *middle = from + (to - from) / 2;
    std::thread left([=] { sort(from, middle, depth - 1); });
    sort(middle, to, depth - 1);
    left.join();
    std::vector<int> merged(to - from);
    std::merge(from, middle, middle, to, merged.begin());
    std::copy(merged.begin(), merged.end(), from);
}

int main() {
    std::vector<int> numbers;
    unsigned state = 1;
    for (int i = 0; i < 5000; i++) {
        state = state * 1103515245 + 12345;
        numbers.push_back(state >> 8);
    }
    sort(numbers.data(), numbers.data() + numbers.size(), 3);
    std::printf("%d %d\n", numbers[0], int(std::is_sorted(numbers.begin(), numbers.end())));
}
