import workerpool from 'workerpool'

workerpool.worker({ double: (value: number): number => value * 2 })
