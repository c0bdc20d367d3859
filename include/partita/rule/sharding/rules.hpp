// Includes all predefined sharding rules, which are in namespace rules.
#pragma once

#include <partita/rule/sharding/gradient.hpp>
#include <partita/rule/sharding/rules/attention.hpp>
#include <partita/rule/sharding/rules/convolution.hpp>
#include <partita/rule/sharding/rules/elementwise.hpp>
#include <partita/rule/sharding/rules/experts.hpp>
#include <partita/rule/sharding/rules/fallback.hpp>
#include <partita/rule/sharding/rules/index.hpp>
#include <partita/rule/sharding/rules/join.hpp>
#include <partita/rule/sharding/rules/matmul.hpp>
#include <partita/rule/sharding/rules/norm.hpp>
#include <partita/rule/sharding/rules/optimiser.hpp>
#include <partita/rule/sharding/rules/reduction.hpp>
#include <partita/rule/sharding/rules/shape.hpp>
