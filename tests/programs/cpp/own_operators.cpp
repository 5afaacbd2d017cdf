// A program with its own allocation operators.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <atomic>
static std::atomic<int> news, deletes;
void *operator new(size_t n) { news++; return std::malloc(n + 16); }
void operator delete(void *p) noexcept { deletes++; std::free(p); }
void operator delete(void *p, size_t) noexcept { deletes++; std::free(p); }
int main() {
    int *p = new int(3);
    std::thread([p] { delete p; }).join();
    std::printf("%d\n", news == deletes);
}
