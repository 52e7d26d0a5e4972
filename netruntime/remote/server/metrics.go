package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what a server counts, by model.
type metrics struct {
	registry         *prometheus.Registry
	requests         *prometheus.CounterVec // by model and status
	rows             *prometheus.CounterVec
	batch            *prometheus.HistogramVec
	waited, computed *prometheus.HistogramVec
}

func newMetrics() *metrics {
	seconds := prometheus.ExponentialBuckets(50e-6, 2, 14)
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "mannequin", Subsystem: "inference", Name: name, Help: help, Buckets: buckets},
			[]string{"model"})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "mannequin", Subsystem: "inference", Name: "requests_total",
			Help: "Requests, by model and gRPC status."}, []string{"model", "code"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "mannequin", Subsystem: "inference", Name: "rows_total",
			Help: "Rows, or sequences, that were computed."}, []string{"model"}),
		batch:    histogram("batch_rows", "Rows, or sequences, of a run.", prometheus.ExponentialBuckets(1, 2, 12)),
		waited:   histogram("queue_seconds", "Time from a request's arrival to its run.", seconds),
		computed: histogram("compute_seconds", "Time of a run.", seconds),
	}
	m.registry.MustRegister(m.requests, m.rows, m.batch, m.waited, m.computed,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Metrics serves the server's metrics to Prometheus.
func (s *Server) Metrics() http.Handler {
	return promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})
}
