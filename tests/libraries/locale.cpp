// libstdc++'s locales: copied, used and dropped by many threads; the last one ends a facet of the user's.
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <locale>
#include <sstream>
#include <thread>
#include <vector>

namespace {

enum { THREADS = 4, ROUNDS = 30 };

int ended;

// Each thread has a place in it; its end, in whichever thread, looks at all of them.
struct marks : std::numpunct<char> {
    int of_thread[THREADS] = {};
    ~marks() override {
        for (int number : of_thread) {
            ended += number;
        }
    }
    char do_thousands_sep() const override {
        return '_';
    }
    std::string do_grouping() const override {
        return "\3";
    }
};

std::locale *shared[ROUNDS];
marks *facets[ROUNDS];

void must(bool condition) {
    if (!condition) {
        abort();
    }
}

void work(int number) {
    for (int i = 0; i < ROUNDS; i++) {
        std::locale mine(shared[i][number]);
        std::ostringstream out;
        out.imbue(mine);
        out << 1234567 << std::setprecision(3) << 1.5;
        must(out.str() == "1_234_5671.5");
        must(std::use_facet<std::ctype<char>>(mine).toupper('a') == 'A');
        facets[i]->of_thread[number] = 1;
        shared[i][number] = std::locale::classic();
    }
}

} // namespace

int main() {
    for (int i = 0; i < ROUNDS; i++) {
        facets[i] = new marks;
        std::locale with(std::locale::classic(), facets[i]);
        shared[i] = new std::locale[THREADS]{with, with, with, with};
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++) {
        threads.emplace_back(work, i);
    }
    for (auto &thread : threads) {
        thread.join();
    }
    for (auto *locales : shared) {
        delete[] locales;
    }
    printf("%d\n", ended);
}
