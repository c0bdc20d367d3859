# Time of a repartition against a memcpy of the same bytes, for us and for the other ways to do it.
#   mpirun -n 2 bench/repartition --json > repartition.json
#   gnuplot -e "data='repartition.json'; regime='near'; figure='repartition.svg'" bench/repartition.gp
set terminal svg size 1100, 460 font "sans-serif,11" background "white"
set output figure
set datafile separator tab
set datafile missing "?"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set logscale y 2
set ylabel "time / memcpy of the same bytes (less is better)"
set grid ytics lc rgb "#dddddd"
set xtics rotate by -20 noenhanced
set key outside right top noenhanced
set yrange [0.25:]
array colours[11] = ["#1f4e9c", "#5b8fd6", "#aecbf2", "#d9d9d9", "#f9cb9c", "#f6a04d", "#c55f00", "#666666", "#38761d", "#8e7cc3", "#000000"]
titles = "near 'cores near each other' far 'cores far from each other' oversubscribed 'workers share cores'"
on = exists("workers") ? workers." workers, " : ""
do for [k = 1:5:2] { if (word(titles, k) eq regime) { set title (on . word(titles, k + 1)) } }
table = "< python3 bench/rows.py ".data." ".regime
stats table skip 1 nooutput
plot for [i = 3:STATS_columns] table using i:xtic(1) lc rgb colours[i - 2] title columnheader(i), 1 lc rgb "#888888" dt 2 notitle
