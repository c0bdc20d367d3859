# Time of a repartition against a memcpy of the same bytes, for us and for the other ways to do it.
#   mpirun -n 2 bench/repartition --json > repartition.json
#   gnuplot -e "data='repartition.json'; regime='near'; figure='repartition.svg'" bench/repartition.gp
set terminal svg size 1000, 480 font "sans-serif,11" background "white"
set output figure
set datafile separator tab
set datafile missing "?"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set logscale y 2
set ylabel "time / memcpy of the same bytes"
set grid ytics lc rgb "#dddddd"
set xtics rotate by -20 noenhanced
set key outside right top noenhanced
set title sprintf("cores %s each other", regime)
table = "< python3 bench/rows.py ".data." ".regime
stats table skip 1 nooutput
plot for [i = 3:STATS_columns] table using i:xtic(1) title columnheader(i), 1 lc rgb "#888888" dt 2 notitle
