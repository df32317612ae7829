# SPDX-License-Identifier: LGPL-2.1-or-later
# The split of placement/star.h as an integer program, in milliseconds.

param n, integer;
set D := 1 .. n;
param layers, integer;
param devices_max, integer;
param required{D}, binary;
param layer_ms{D};
param room{D}, integer;
param use_ms{D};
param last_ms{D};
param room_last{D}, integer;
set REACHED within D;

var used{D}, binary;
var is_last{D}, binary;
var on{D}, integer, >= 0;         # layers

minimize step_ms: sum{i in D} (layer_ms[i] * on[i] + last_ms[i] * is_last[i]) + sum{i in REACHED} use_ms[i] * used[i];

s.t. all_layers: sum{i in D} on[i] = layers;
s.t. one_last: sum{i in D} is_last[i] = 1;
s.t. last_is_used{i in D}: is_last[i] <= used[i];
s.t. a_layer_each{i in D}: on[i] >= used[i];
s.t. fits{i in D}: on[i] <= room[i] * (used[i] - is_last[i]) + room_last[i] * is_last[i];
s.t. at_most: sum{i in D} used[i] <= devices_max;
s.t. with_required{i in D: required[i]}: used[i] = 1;
s.t. not_reached{i in D diff REACHED}: used[i] = 0;

solve;
end;
