// A thread pool: tasks in a queue with a mutex and a condition, results by futures; the tasks sieve segments for primes.
// Checked by a plain sieve of the whole range.
// suite: c++
// size: 190000000 quick: 400000 sweep: 20000000 50000000 100000000 190000000
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "include/workload.h"

class pool {
public:
    explicit pool(int size) {
        for (int i = 0; i < size; i++) {
            workers.emplace_back([this] { work(); });
        }
    }

    template <typename Function>
    auto submit(Function function) -> std::future<decltype(function())> {
        std::packaged_task<decltype(function())()> task(std::move(function));
        auto result = task.get_future();
        {
            std::lock_guard guard(lock);
            tasks.push(std::packaged_task<void()>(std::move(task)));
        }
        not_empty.notify_one();
        return result;
    }

    // Ends the workers when all tasks are done; returns how many there were.
    long finish() {
        {
            std::lock_guard guard(lock);
            closed = true;
        }
        not_empty.notify_all();
        for (auto &worker : workers) {
            worker.join();
        }
        return done;
    }

private:
    // Whether there is one more.
    bool next(std::packaged_task<void()> &task) {
        std::unique_lock guard(lock);
        not_empty.wait(guard, [this] { return closed || !tasks.empty(); });
        if (tasks.empty()) {
            return false;
        }
        task = std::move(tasks.front());
        tasks.pop();
        return true;
    }

    void work() {
        long mine = 0;
        for (std::packaged_task<void()> task; next(task); mine++) {
            task();
        }
#ifndef RACE
        std::lock_guard guard(lock);
#endif
        done += mine; //~ RACE done
    }

    std::mutex lock;
    std::condition_variable not_empty;
    std::queue<std::packaged_task<void()>> tasks;
    bool closed = false;
    long done = 0;
    std::vector<std::thread> workers;
};

static std::vector<long> small_primes(long limit) {
    std::vector<bool> composite(static_cast<size_t>(limit) + 1);
    std::vector<long> primes;
    for (long i = 2; i <= limit; i++) {
        if (!composite[static_cast<size_t>(i)]) {
            primes.push_back(i);
            for (long j = i * i; j <= limit; j += i) {
                composite[static_cast<size_t>(j)] = true;
            }
        }
    }
    return primes;
}

static long primes_in(long first, long last, const std::vector<long> &primes) {
    std::vector<char> composite(static_cast<size_t>(last - first));
    for (long prime : primes) {
        long start = std::max(prime * prime, (first + prime - 1) / prime * prime);
        for (long j = start; j < last; j += prime) {
            composite[static_cast<size_t>(j - first)] = 1;
        }
    }
    long sum = 0;
    for (long i = std::max(first, 2L); i < last; i++) {
        sum += !composite[static_cast<size_t>(i - first)];
    }
    return sum;
}

int main(int count, char **words) {
    const long segment = 32768;
    long limit = arguments(count, words, 190000000, 100, 1L << 36);
    const auto primes = small_primes(static_cast<long>(std::sqrt(static_cast<double>(limit))) + 1);
    pool pool(threads);
    std::vector<std::future<long>> results;
    for (long first = 0; first < limit; first += segment) {
        results.push_back(pool.submit([=, &primes] { return primes_in(first, std::min(first + segment, limit), primes); }));
    }
    long sum = 0;
    for (auto &result : results) {
        sum += result.get();
    }
    bool right = pool.finish() == static_cast<long>(results.size());
    right &= sum == static_cast<long>(small_primes(limit - 1).size());
    return verdict(right, static_cast<uint64_t>(sum));
}
